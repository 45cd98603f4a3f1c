// The bus between host and device: its name and its theoretical speed.

import type { DriverApi } from "../../ffi/cuda.ts";
import { type DeviceIdentity, findNvmlDevice } from "../driver/nvml.ts";
import { formatSpeed } from "../words/format.ts";

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

/** Names a bus, with its theoretical speed where that is known. */
export function describeBus({ name, theoreticalGigabytesPerSecond: roof }: Bus): string {
  return roof === null ? name : `${name}, at most ${formatSpeed(roof)} one way`;
}

/** Asks NVML for the best link of a device; unknown without NVML. */
export function readBus(driver: DriverApi, identity: DeviceIdentity): Bus {
  const found = findNvmlDevice(driver, identity);
  if ("reason" in found) return UNKNOWN;
  const { generation = 0, laneCount = 0 } = found.pcieLink("max");
  return pcieBus(generation, laneCount);
}
