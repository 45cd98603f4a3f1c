// The bus between host and device: its name and the speed it cannot pass.

import { NVML } from "../../ffi/nvml.ts";
import { cString } from "../../ffi/pointers.ts";

/** A device's link to the host. */
export interface Bus {
  /** Its name, such as `"PCIe 5.0 x16"`, or `"unknown"`. */
  readonly name: string;
  /** GB/s in one direction that its signalling allows (1 GB = 10^9 bytes); null when unknown. */
  readonly theoreticalGigabytesPerSecond: number | null;
}

const UNKNOWN: Bus = { name: "unknown", theoreticalGigabytesPerSecond: null };

/** GB/s of one lane after line coding, by generation: 2.5 and 5 GT/s at 8b/10b, then 128b/130b. */
const LANE_GIGABYTES_PER_SECOND: Readonly<Record<number, number>> = {
  1: 0.25,
  2: 0.5,
  3: 0.985,
  4: 1.969,
  5: 3.938,
  6: 7.563,
};

/** Describes a PCI Express link. */
export function pcieBus(generation: number, lanes: number): Bus {
  const lane = LANE_GIGABYTES_PER_SECOND[generation];
  if (lane === undefined || lanes <= 0) return UNKNOWN;
  return { name: `PCIe ${generation}.0 x${lanes}`, theoreticalGigabytesPerSecond: lane * lanes };
}

/** Asks NVML for the link of the device at a PCI address; unknown where there is no NVML. */
export function readBus(pciBusId: string): Bus {
  const library = openNvml();
  if (library === undefined) return UNKNOWN;
  const { symbols } = library;
  if (symbols.nvmlInit_v2() !== 0) return UNKNOWN;
  try {
    const handle = new BigUint64Array(1);
    const name = cString(pciBusId);
    if (symbols.nvmlDeviceGetHandleByPciBusId_v2(name, handle) !== 0) return UNKNOWN;
    const generation = new Uint32Array(1);
    const width = new Uint32Array(1);
    const device = handle[0] ?? 0n;
    if (symbols.nvmlDeviceGetMaxPcieLinkGeneration(device, generation) !== 0) return UNKNOWN;
    if (symbols.nvmlDeviceGetMaxPcieLinkWidth(device, width) !== 0) return UNKNOWN;
    return pcieBus(generation[0] ?? 0, width[0] ?? 0);
  } finally {
    symbols.nvmlShutdown();
  }
}

function openNvml(): Deno.DynamicLibrary<typeof NVML> | undefined {
  const name = Deno.build.os === "windows" ? "nvml.dll" : "libnvidia-ml.so.1";
  try {
    return Deno.dlopen(name, NVML);
  } catch {
    return undefined; // without NVML the bus stays unknown, and nothing else changes
  }
}
