// The output of nvbandwidth: written for the kit's measurement of its cases, and read from its own
// runs, as text or JSON, so that both can be compared.

import { messageOf } from "../words/format.ts";
import { VERSION } from "../words/version.ts";
import { BandwidthResult, type CopyCase, type LatencyCase } from "./bandwidth_result.ts";
import type { LinkBandwidthResult, LinkCase, LinkSpeed } from "./link_bandwidth_result.ts";

/** nvbandwidth's descriptions of the matrix of each case. */
const DESCRIPTIONS: Readonly<Record<CopyCase | LatencyCase | LinkCase, string>> = {
  host_to_device_memcpy_ce: "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)",
  device_to_host_memcpy_ce: "memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)",
  host_to_device_bidirectional_memcpy_ce: "memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)",
  device_to_host_bidirectional_memcpy_ce: "memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)",
  device_local_copy: "memcpy local GPU(column) bandwidth (GB/s)",
  host_to_device_memcpy_sm: "memcpy SM CPU(row) -> GPU(column) bandwidth (GB/s)",
  device_to_host_memcpy_sm: "memcpy SM CPU(row) <- GPU(column) bandwidth (GB/s)",
  device_local_copy_sm: "memcpy SM local GPU(column) bandwidth (GB/s)",
  host_device_latency_sm: "memory latency SM CPU(row) <-> GPU(column) (ns)",
  device_to_device_memcpy_read_ce: "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
  device_to_device_memcpy_write_ce: "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)",
  device_to_device_bidirectional_memcpy_read_ce:
    "memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)",
  device_to_device_bidirectional_memcpy_write_ce:
    "memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)",
  all_to_host_memcpy_ce: "memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)",
  host_to_all_memcpy_ce: "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)",
  all_to_one_write_ce: "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)",
  all_to_one_read_ce: "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
  one_to_all_write_ce: "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
  one_to_all_read_ce: "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)",
};

export interface NvbandwidthCase {
  readonly name: string;
  readonly status: "Passed" | "Waived" | "Error";
  readonly bandwidth_description: string;
  readonly bandwidth_matrix: readonly (readonly string[])[];
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly average: number;
}

export interface NvbandwidthDocument {
  readonly nvbandwidth: {
    readonly version: string;
    readonly git_version: string;
    readonly "CUDA Runtime Version": number;
    readonly "Driver Version": string;
    readonly "GPU Device list": readonly string[];
    readonly testcases: readonly NvbandwidthCase[];
  };
}

/** The measurement of a case over some devices; the unit of a latency is the nanosecond. */
export interface MeasuredCase
  extends Pick<LinkSpeed, "gigabytesPerSecond" | "verified" | "matrix" | "directions"> {
  readonly name: CopyCase | LatencyCase | LinkCase;
}

/** The facts around the cases. */
export interface MeasuredWith {
  /** The version of CUDA, such as `"13.0"`. */
  readonly cuda: string;
  /** The version of the driver; that of CUDA where it is not known. */
  readonly driverVersion?: string | undefined;
  /** Each device in words, such as `"0: NVIDIA H200 (00000000:0a:00)"`. */
  readonly devices: readonly string[];
}

/**
 * Returns the cases of a result as its JSON document; one with wrong bytes has the status "Error", and
 * one for which no devices have a link "Waived".
 */
export function nvbandwidthDocument(
  result: BandwidthResult | LinkBandwidthResult,
  driverVersion?: string,
): NvbandwidthDocument {
  const { driver: cuda, device: name, ordinal = 0 } = result.provenance;
  const isOfOne = result instanceof BandwidthResult;
  const devices = (isOfOne ? [{ ordinal, name }] : result.devices)
    .map((device) => `${device.ordinal}: ${device.name}`);
  const cases = isOfOne ? casesOf(result) : result.cases;
  return documentOf(cases, { cuda, driverVersion, devices });
}

/** Returns the cases of one device, latencies included. */
export function casesOf({ cases, latencies }: BandwidthResult): MeasuredCase[] {
  return [
    ...cases.map((found) => ({ ...found, matrix: [[found.gigabytesPerSecond]] })),
    ...latencies.map(({ name, verified, secondsPerAccess }) => {
      const nanoseconds = secondsPerAccess * 1e9;
      return { name, verified, gigabytesPerSecond: nanoseconds, matrix: [[nanoseconds]] };
    }),
  ];
}

/** Writes its JSON document. */
export function documentOf(
  cases: readonly MeasuredCase[],
  { cuda, driverVersion = cuda, devices }: MeasuredWith,
): NvbandwidthDocument {
  const [major = 0, minor = 0] = cuda.split(".").map(Number);
  return {
    nvbandwidth: {
      version: `vramkit ${VERSION}`,
      git_version: "",
      "CUDA Runtime Version": 1000 * major + 10 * minor,
      "Driver Version": driverVersion,
      "GPU Device list": devices,
      testcases: cases.map(testcaseOf),
    },
  };
}

/** Digits of its numbers in a matrix. */
const DIGITS = 6;

/** Makes a case of its JSON. */
function testcaseOf(
  { name, gigabytesPerSecond: sum, verified, matrix, directions = [] }: MeasuredCase,
): NvbandwidthCase {
  const speeds = matrix.flat().filter((speed) => speed !== null);
  return {
    name,
    status: !verified ? "Error" : speeds.length === 0 ? "Waived" : "Passed",
    bandwidth_description: DESCRIPTIONS[name],
    // It writes both directions of a case, and then their sums, as rows of one matrix.
    bandwidth_matrix: [...directions, matrix].flat().map((line) =>
      line.map((speed) => speed === null ? "N/A" : `${Number(speed.toPrecision(DIGITS))}`)
    ),
    sum,
    min: speeds.length === 0 ? 0 : Math.min(...speeds),
    max: speeds.length === 0 ? 0 : Math.max(...speeds),
    average: sum / Math.max(1, speeds.length),
  };
}

/**
 * Reads the speeds of nvbandwidth's cases in GB/s, and its latencies in nanoseconds, from what it
 * prints or from its JSON: the sum over all devices, as it reports it.
 *
 * @throws TypeError for a text that has no case.
 */
export function parseNvbandwidth(text: string): Map<string, number> {
  const lines = text.matchAll(/^SUM (\w+) (\d+(?:\.\d+)?)\s*$/gm);
  const found = text.trimStart().startsWith("{")
    ? speedsInJson(text)
    : new Map([...lines].map(([, name = "", speed]) => [name, Number(speed)]));
  if (found.size > 0) return found;
  throw new TypeError("Cannot read the output of nvbandwidth: it has no case with a speed");
}

function speedsInJson(text: string): Map<string, number> {
  const speeds = new Map<string, number>();
  for (const { name, status, sum } of casesIn(text)) {
    const speed = Number(sum);
    if (typeof name === "string" && status === "Passed" && speed > 0) speeds.set(name, speed);
  }
  return speeds;
}

function casesIn(text: string): Partial<Record<keyof NvbandwidthCase, unknown>>[] {
  try {
    const cases: unknown = JSON.parse(text)?.nvbandwidth?.testcases;
    return Array.isArray(cases) ? cases.filter((each) => typeof each === "object" && each) : [];
  } catch (error) {
    throw new TypeError(`Cannot read the output of nvbandwidth: ${messageOf(error)}`);
  }
}
