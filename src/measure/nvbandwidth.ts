// The output of nvbandwidth: written for our measurement of its cases, and read from its own, as text
// or JSON, so that both stand side by side.

import { VERSION } from "../words/version.ts";
import type { BandwidthResult, CopyCase, LatencyCase } from "./bandwidth_result.ts";

/** Its words for the matrix of a case. */
const DESCRIPTIONS: Readonly<Record<CopyCase | LatencyCase, string>> = {
  host_to_device_memcpy_ce: "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)",
  device_to_host_memcpy_ce: "memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)",
  host_to_device_bidirectional_memcpy_ce: "memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)",
  device_to_host_bidirectional_memcpy_ce: "memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)",
  device_local_copy: "memcpy local GPU(column) bandwidth (GB/s)",
  host_to_device_memcpy_sm: "memcpy SM CPU(row) -> GPU(column) bandwidth (GB/s)",
  device_to_host_memcpy_sm: "memcpy SM CPU(row) <- GPU(column) bandwidth (GB/s)",
  device_local_copy_sm: "memcpy SM local GPU(column) bandwidth (GB/s)",
  host_device_latency_sm: "memory latency SM CPU(row) <-> GPU(column) (ns)",
};

/** One case in its JSON. */
export interface NvbandwidthCase {
  readonly name: string;
  readonly status: "Passed" | "Error";
  readonly bandwidth_description: string;
  readonly bandwidth_matrix: readonly (readonly string[])[];
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly average: number;
}

/** Its JSON document. */
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

/** Returns the cases of a result as its JSON document; one with wrong bytes has the status "Error". */
export function nvbandwidthDocument(
  { provenance, cases, latencies }: BandwidthResult,
  ordinal = 0,
): NvbandwidthDocument {
  const [major = 0, minor = 0] = provenance.driver.split(".").map(Number);
  return {
    nvbandwidth: {
      version: `vramkit ${VERSION}`,
      git_version: "",
      "CUDA Runtime Version": 1000 * major + 10 * minor,
      "Driver Version": provenance.driver,
      "GPU Device list": [`${ordinal}: ${provenance.device}`],
      testcases: [
        ...cases.map(({ gigabytesPerSecond: value, ...rest }) => caseOf({ ...rest, value })),
        ...latencies.map(({ secondsPerAccess, ...rest }) =>
          caseOf({ ...rest, value: secondsPerAccess * 1e9 })
        ),
      ],
    },
  };
}

function caseOf(
  { name, value, verified }: { name: CopyCase | LatencyCase; value: number; verified: boolean },
): NvbandwidthCase {
  return {
    name,
    status: verified ? "Passed" : "Error",
    bandwidth_description: DESCRIPTIONS[name],
    bandwidth_matrix: [[String(value)]],
    sum: value,
    min: value,
    max: value,
    average: value,
  };
}

/**
 * Reads the speeds of nvbandwidth's cases in GB/s, and its latencies in nanoseconds, from what it prints or from its JSON: the sum over
 * all devices, as it reports it.
 *
 * @throws TypeError for a text that has no case.
 */
export function parseNvbandwidth(text: string): Map<string, number> {
  const found = text.trimStart().startsWith("{") ? speedsInJson(text) : speedsInText(text);
  if (found.size > 0) return found;
  throw new TypeError("Cannot read the output of nvbandwidth: it has no case with a speed");
}

function speedsInText(text: string): Map<string, number> {
  const lines = text.matchAll(/^SUM (\w+) (\d+(?:\.\d+)?)\s*$/gm);
  return new Map([...lines].map(([, name = "", speed]) => [name, Number(speed)]));
}

function speedsInJson(text: string): Map<string, number> {
  const cases = casesIn(text);
  const speeds = new Map<string, number>();
  for (const { name, status, sum } of cases) {
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
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`Cannot read the output of nvbandwidth: ${reason}`);
  }
}
