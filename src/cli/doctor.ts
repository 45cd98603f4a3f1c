// `doctor`: finds out, step by step, whether a GPU can be used, and says how to fix each problem.

import {
  findLibrary,
  INSTALLED_LIBRARIES,
  type InstalledLibrary,
} from "../../ffi/installed_libraries.ts";
import { LibraryError } from "../../ffi/library.ts";
import { formatLoad, formatProcesses, systemFacts } from "../cards/system_card.ts";
import { CudaDevice } from "../device/device.ts";
import { CudaError, CudaUnavailableError, type UnavailableReason } from "../words/errors.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import type { CliOptions } from "./arguments.ts";

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

/** Runs the command; the exit code is 0 when the GPU can be used. */
export function runDoctor(options: CliOptions): number {
  const driver = options.driver === "auto" ? "cuda" : options.driver;
  console.log(`Deno ${Deno.version.deno} on ${Deno.build.os} ${Deno.build.arch}`);
  try {
    using gpu = CudaDevice.open(options.ordinal, { driver });
    report(gpu);
    tryMemory(gpu);
    reportSystem(gpu);
    reportLibraries();
    console.log(
      `ok    ${driver === "simulated" ? "the simulated device, no GPU," : "a GPU"} can be used`,
    );
    return 0;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    console.log(`FAIL  ${reasonOf(error)}`);
    for (const fix of fixesFor(error)) console.log(`  -> ${fix}`);
    const needs = isPermission(error) ? "; it needs --allow-ffi as well" : "";
    console.log(
      `Without a GPU, CudaDevice.open(0, { driver: "auto" }) uses a simulated one${needs}`,
    );
    return 1;
  }
}

function report(gpu: CudaDevice): void {
  const { driver } = gpu.context;
  const { name, computeCapability, bus, pciBusId } = gpu.info;
  const { freeBytes, totalBytes } = gpu.memory;
  console.log(`ok    the driver opened; it supports CUDA ${driver.version}`);
  console.log(`ok    it sees ${formatCount(driver.deviceCount, "device")}`);
  console.log(
    `ok    device ${gpu.ordinal}: ${name}, compute capability ${computeCapability}, ` +
      `${bus.name} at ${pciBusId}`,
  );
  console.log(`ok    memory: ${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} free`);
}

/** Does what every program does first: allocates a block, copies into it and back. */
function tryMemory(gpu: CudaDevice): void {
  const values = Float32Array.from({ length: 1024 }, (_, index) => index);
  using buffer = gpu.uploadSync(values);
  const back = buffer.downloadSync();
  if (!values.every((value, index) => value === back[index])) {
    throw new Error(
      "Cannot trust the device: 4 KiB came back changed; check nvidia-smi for errors",
    );
  }
  console.log("ok    4 KiB went there and back unchanged");
}

/** Prints the result of `gpu.system()`. Missing NVML is no failure: nothing else needs it. */
function reportSystem(gpu: CudaDevice): void {
  const state = gpu.system();
  if (state.unavailable !== undefined) {
    console.log(`note  no load, power and clocks: ${state.unavailable}`);
    return;
  }
  const { driverVersion = "unknown", isModelled } = state;
  const source = isModelled ? "modelled values" : "NVML";
  console.log(`ok    ${source}, driver ${driverVersion}: ${formatLoad(state)}`);
  for (const [name, value] of systemFacts(state)) console.log(`      ${name}: ${value}`);
  for (const line of formatProcesses(state)) console.log(`      ${line}`);
}

/** Prints where the libraries are that only some calls need; a missing one is no failure. */
function reportLibraries(): void {
  for (const name of Object.keys(INSTALLED_LIBRARIES) as InstalledLibrary[]) {
    const { title, remedy } = INSTALLED_LIBRARIES[name];
    const { path, place } = findLibrary(name);
    console.log(
      path === undefined
        ? `note  ${title}: not found; ${remedy}`
        : `ok    ${title}: ${path} (${place})`,
    );
  }
}

/** Returns the reason without the advice to run this command: for a library, the cause. */
function reasonOf(error: Error): string {
  return error.cause instanceof LibraryError && !isPermission(error)
    ? error.cause.message
    : error.message;
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
