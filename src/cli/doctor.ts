// `doctor`: finds out, step by step, whether a GPU can be used, and says how to fix each problem.

import {
  findLibrary,
  INSTALLED_LIBRARIES,
  type InstalledLibrary,
} from "../../ffi/installed_libraries.ts";
import { LibraryError } from "../../ffi/library.ts";
import { formatLoad, formatProcesses, systemFacts } from "../cards/system_card.ts";
import { CudaDevice } from "../device/device.ts";
import { KeeperConnection } from "../persist/keeper_connection.ts";
import { persistedTable } from "../persist/persist.ts";
import { CudaError, CudaUnavailableError, type UnavailableReason } from "../words/errors.ts";
import { formatBytes, formatCount, messageOf } from "../words/format.ts";
import { VERSION } from "../words/version.ts";
import { wrapped } from "../words/wrapping.ts";
import type { CliOptions } from "./arguments.ts";
import { installedKernels } from "./kernel_specifications.ts";

const FIXES: Readonly<Record<UnavailableReason, readonly string[]>> = {
  permission: [
    "run Deno with --allow-ffi (or -A)",
    "with --allow-ffi=PATHS, name the C library too, and pass the driver's absolute path as " +
    "{ libraryPath } or in VRAMKIT_CUDA",
  ],
  "no-library": [
    "on a PC or server: install NVIDIA's driver, then check that `nvidia-smi` works",
    "in a container: start it with GPU access (docker run --gpus all ...)",
    "in WSL: install the driver on Windows, not in WSL; it puts libcuda.so under /usr/lib/wsl/lib",
    "when the library lies elsewhere: set VRAMKIT_CUDA to its path",
  ],
  "bad-library": [
    "point VRAMKIT_CUDA at the real libcuda.so.1 of NVIDIA's driver (not a toolkit's stub)",
  ],
  "no-device": [
    "check that `nvidia-smi` lists a GPU",
    "unset CUDA_VISIBLE_DEVICES, or set it to a device that exists",
    "in a container: start it with GPU access (docker run --gpus all ...)",
    "after a driver update: reboot",
  ],
  "not-ready": [
    "do what the message names; `nvidia-smi` and the kernel's log (dmesg) tell more",
    "after a driver update: reboot",
  ],
  "driver-too-old": ["update NVIDIA's driver to one for CUDA 11.4 or newer, then reboot"],
  "not-supported": ["use the kind of memory that the message names, which every device has"],
};

/** Something that was found out. */
interface Finding {
  readonly status: "ok" | "note" | "fail";
  readonly text: string;
  /** Lines of their own below it. */
  readonly details?: readonly string[];
  /** Remedies, the best first. */
  readonly fixes?: readonly string[];
  /** Names and paths of the library that were tried. */
  readonly tried?: readonly string[];
}

/** Runs the command; the exit code is 0 when the GPU can be used. */
export async function runDoctor(options: CliOptions): Promise<number> {
  const findings = await examine(options);
  const usable = findings.every(({ status }) => status !== "fail");
  const { os, arch } = Deno.build;
  if (options.json) {
    const deno = Deno.version.deno;
    console.log(JSON.stringify({ vramkit: VERSION, deno, os, arch, usable, findings }, null, 2));
  } else {
    console.log(`Deno ${Deno.version.deno} on ${os} ${arch}`);
    for (const finding of findings) print(finding);
    const tried = findings.flatMap(({ tried = [] }) => tried);
    if (tried.length > 0) console.log(["The places:", ...tried].join("\n  "));
  }
  return usable ? 0 : 1;
}

/** Prints a finding. Few people need the paths that were tried: they are printed last. */
function print({ status, text, details = [], fixes = [] }: Finding): void {
  const mark = status === "fail" ? "FAIL" : status;
  console.log(wrapped(`${mark.padEnd(MARGIN.length)}${text}`, MARGIN));
  for (const line of details) console.log(wrapped(MARGIN + line, `${MARGIN}  `));
  for (const fix of fixes) console.log(wrapped(`  -> ${fix}`, MARGIN));
}

/** The place of a mark. */
const MARGIN = " ".repeat(6);

/** Finds out what there is, until something fails that the rest needs. */
async function examine(options: CliOptions): Promise<Finding[]> {
  const driver = options.driver === "auto" ? "cuda" : options.driver;
  const findings: Finding[] = [];
  try {
    using gpu = CudaDevice.open(options.ordinal, { driver });
    findings.push(...factsOf(gpu), tryMemory(gpu), systemFinding(gpu));
    findings.push(...await persistedFindings(), ...libraryFindings(), ...kernelFindings());
    const what = driver === "simulated" ? "the simulated device, no GPU," : "a GPU";
    findings.push({ status: "ok", text: `${what} can be used` });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const tried = error.cause instanceof LibraryError ? error.cause.tried : [];
    const needs = isPermission(error) ? "; it needs --allow-ffi as well" : "";
    findings.push(
      { status: "fail", text: reasonOf(error), fixes: fixesFor(error), tried },
      ...kernelFindings(),
      {
        status: "note",
        text: `without a GPU, CudaDevice.open(0, { driver: "auto" }) uses a simulated one${needs}`,
      },
    );
  }
  return findings;
}

function factsOf(gpu: CudaDevice): Finding[] {
  const { driver } = gpu.context;
  const { name, computeCapability, bus, pciBusId } = gpu.info;
  const { freeBytes, totalBytes } = gpu.memory;
  return [
    `the driver opened; it supports CUDA ${driver.version}`,
    `it sees ${formatCount(driver.deviceCount, "device")}`,
    `device ${gpu.ordinal}: ${name}, compute capability ${computeCapability}, ` +
    `bus ${bus.name} at ${pciBusId}`,
    `memory: ${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} free`,
  ].map((text) => ({ status: "ok", text }));
}

/** Does what every program does first: allocates a block, copies into it and back. */
function tryMemory(gpu: CudaDevice): Finding {
  const values = Float32Array.from({ length: 1024 }, (_, index) => index);
  using buffer = gpu.uploadSync(values);
  const back = buffer.downloadSync();
  if (!values.every((value, index) => value === back[index])) {
    throw new Error(
      "Cannot trust the device: 4 KiB came back changed; check nvidia-smi for errors",
    );
  }
  return { status: "ok", text: "4 KiB went there and back unchanged" };
}

/** Tells the result of `gpu.system()`. Missing NVML is no failure: nothing else needs it. */
function systemFinding(gpu: CudaDevice): Finding {
  const state = gpu.system();
  if (state.unavailable !== undefined) {
    return { status: "note", text: `no load, power and clocks: ${state.unavailable}` };
  }
  const { driverVersion = "unknown", isModelled } = state;
  const source = isModelled ? "modelled values" : "NVML";
  const facts = systemFacts(state).map(([name, value]) => `${name}: ${value}`);
  return {
    status: "ok",
    text: `${source}, driver ${driverVersion}: ${formatLoad(state)}`,
    details: [...facts, ...formatProcesses(state)],
  };
}

/** Tells what outlives its program: nvidia-smi shows that memory without a process. */
async function persistedFindings(): Promise<Finding[]> {
  try {
    using keeper = await KeeperConnection.findAny();
    if (keeper === undefined) return [];
    const { count, byteLength } = await persistedTable();
    const text = `persisted memory: process ${keeper.pid} keeps ` +
      `${formatCount(count, "name")}, ${formatBytes(byteLength)}; the command "persisted" lists ` +
      `them, "persisted forget NAME" frees one`;
    return [{ status: "note", text }];
  } catch (error) {
    return [{ status: "note", text: `persisted memory: ${messageOf(error)}` }];
  }
}

/** Tells where the libraries are that only some calls need; a missing one is no failure. */
function libraryFindings(): Finding[] {
  return (Object.keys(INSTALLED_LIBRARIES) as InstalledLibrary[]).map((name) => {
    const { title, remedy } = INSTALLED_LIBRARIES[name];
    const { path, place } = findLibrary(name);
    return path === undefined
      ? { status: "note", text: `${title}: not found; ${remedy}` }
      : { status: "ok", text: `${title}: ${path} (${place})` };
  });
}

/** Tells which of Jupyter's Deno kernels Stop ends; a machine without any has no notebooks. */
function kernelFindings(): Finding[] {
  return installedKernels().map(({ path, survivesStop }) =>
    survivesStop ? { status: "ok", text: `Jupyter's kernel survives Stop: ${path}` } : {
      status: "note",
      text: `Stop ends Jupyter's kernel, and frees its GPU memory: ${path}`,
      fixes: ['the command "kernel" installs one that goes on'],
    }
  );
}

/** Returns the reason without the advice to run this command: for a library, the cause. */
function reasonOf(error: Error): string {
  if (!(error.cause instanceof LibraryError) || isPermission(error)) return error.message;
  // The paths that were tried are listed below the advice, which has the rest of this message.
  return error.cause.message.replace(/: tried .*$/, ": it is in none of the places below");
}

function isPermission(error: Error): boolean {
  return error instanceof CudaUnavailableError && error.reason === "permission";
}

function fixesFor(error: Error): readonly string[] {
  if (error instanceof CudaUnavailableError) return FIXES[error.reason];
  if (error instanceof CudaError) {
    return ["check nvidia-smi and the kernel's log (dmesg) for errors"];
  }
  return ["pass --device with a number that exists"];
}
