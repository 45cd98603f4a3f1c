// The speeds that a GPU, its bus and its host should reach, and the judgement of a measured one. Shares of
// a theoretical speed were measured on machines that are all right; the docs name them.

import type { LatencyCase } from "../measure/bandwidth_result.ts";
import type { CopyCase } from "../measure/bandwidth_result.ts";
import { type Bus, pcieBus } from "../measure/bus.ts";
import type { LinkCase } from "../measure/link_bandwidth_result.ts";
import { formatSpeed } from "../words/format.ts";
import type { GpuFacts, Verdict } from "./machine_report.ts";

/** A value that should be reached, and its origin in words. */
export interface Expectation {
  readonly value: number;
  readonly from: string;
  /** Whether it is a rule of thumb: a value far from it is worth a look, and not wrong. */
  readonly isThumb?: boolean;
}

/** Shares of the bus's signalling that copies reach: packets have headers, and answers go back. */
const BUS_SHARES: Partial<Record<CopyCase | LatencyCase | LinkCase, number>> = {
  host_to_device_memcpy_ce: 0.87,
  device_to_host_memcpy_ce: 0.87,
  host_to_device_bidirectional_memcpy_ce: 0.65,
  device_to_host_bidirectional_memcpy_ce: 0.65,
  host_to_device_memcpy_sm: 0.75,
  device_to_host_memcpy_sm: 0.75,
  all_to_host_memcpy_ce: 0.8,
  host_to_all_memcpy_ce: 0.8,
};

/** Share of the memory's speed: a copy reads and writes each byte, and memory rests for refreshes. */
const MEMORY_SHARE = 0.84;
/** Share of NVLink's speed in one direction. */
const NVLINK_SHARE = 0.87;
/** GB/s of one NVLink in one direction, by generation. */
const NVLINK_SPEEDS: Readonly<Record<number, number>> = { 1: 20, 2: 25, 3: 25, 4: 25, 5: 50 };

/** Values from which on a row is as expected, or only worth a look: shares of the expectation. */
const GOOD_SHARE = 0.9;
const LOOK_SHARE = 0.7;

/** Judges a value. */
export function judge(
  value: number,
  { value: expected, isThumb = false }: Expectation,
  better: "more" | "less" = "more",
): Verdict {
  const share = better === "more" ? value / expected : expected / value;
  if (share >= GOOD_SHARE) return "good";
  return share >= LOOK_SHARE || isThumb ? "look" : "bad";
}

/** Returns the best bus that a GPU has with its host; undefined where it is not known, or there is none. */
export function bestBus({ linkMax }: GpuFacts): Bus | undefined {
  return linkMax === null ? undefined : pcieBus(linkMax.generation, linkMax.laneCount);
}

/** Returns the expectation for copies between host and device. */
export function expectOfBus(
  facts: GpuFacts,
  name: CopyCase | LinkCase,
  share: number | undefined = BUS_SHARES[name],
): Expectation | undefined {
  const bus = bestBus(facts);
  const roof = bus?.theoreticalGigabytesPerSecond ?? null;
  if (bus === undefined || roof === null || share === undefined) return undefined;
  return { value: share * roof, from: `${percent(share)} of ${bus.name}, ${formatSpeed(roof)}` };
}

/** Returns the expectation for copies within a device: its memory's clock and width decide. */
export function expectOfMemory(facts: GpuFacts): Expectation | undefined {
  const { memoryClockMaxMegahertz: clock, memoryBusBits: bits } = facts;
  if (!clock || !bits) return undefined;
  const roof = 2 * clock * 1e6 * bits / 8 / 1e9; // two transfers in a clock
  return {
    value: MEMORY_SHARE * roof / 2,
    from:
      `${percent(MEMORY_SHARE)} of half of ${formatSpeed(roof)}: ${bits} bits at ${clock} MHz, ` +
      "each byte is read and written",
  };
}

/** Returns the expectation for copies between GPUs over NVLink. */
export function expectOfNvlink(
  { nvlinkCount, nvlinkGeneration }: GpuFacts,
): Expectation | undefined {
  const one = NVLINK_SPEEDS[nvlinkGeneration ?? 0];
  if (!nvlinkCount || one === undefined) return undefined;
  return {
    value: NVLINK_SHARE * nvlinkCount * one,
    from: `${percent(NVLINK_SHARE)} of ${nvlinkCount} NVLinks with ${one} GB/s each`,
    isThumb: true, // without a switch, the links of a GPU are divided among its neighbours
  };
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
