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
    "memcpy CE CPU(row) <-> GPU(column) Total bandwidth (GB/s)",
  device_to_device_bidirectional_memcpy_write_ce:
    "memcpy CE CPU(row) <-> GPU(column) Total bandwidth (GB/s)",
  all_to_host_memcpy_ce: "memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)",
  host_to_all_memcpy_ce: "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)",
  all_to_one_write_ce: "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)",
  all_to_one_read_ce: "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
  one_to_all_write_ce: "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
  one_to_all_read_ce: "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)",
};

/** One case in its JSON. */
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

/**
 * Returns the cases of a result as its JSON document; one with wrong bytes has the status "Error", and
 * one for which no devices have a link "Waived".
 */
export function nvbandwidthDocument(
  result: BandwidthResult | LinkBandwidthResult,
): NvbandwidthDocument {
  const { provenance } = result;
  const [major = 0, minor = 0] = provenance.driver.split(".").map(Number);
  const isOfOne = result instanceof BandwidthResult;
  const { device: name, ordinal = 0 } = provenance;
  const devices = isOfOne ? [{ ordinal, name }] : result.devices;
  return {
    nvbandwidth: {
      version: `vramkit ${VERSION}`,
      git_version: "",
      "CUDA Runtime Version": 1000 * major + 10 * minor,
      "Driver Version": provenance.driver,
      "GPU Device list": devices.map(({ ordinal, name }) => `${ordinal}: ${name}`),
      testcases: isOfOne
        ? [
          ...result.cases.map((found) =>
            testcaseOf({ ...found, matrix: [[found.gigabytesPerSecond]] })
          ),
          ...result.latencies.map(({ secondsPerAccess, ...rest }) => {
            const nanoseconds = secondsPerAccess * 1e9;
            const matrix = [[nanoseconds]];
            return testcaseOf({ ...rest, gigabytesPerSecond: nanoseconds, matrix });
          }),
        ]
        : result.cases.map(testcaseOf),
    },
  };
}

/** Makes a case of its JSON; the unit of a latency is the nanosecond. */
function testcaseOf(
  { name, gigabytesPerSecond: sum, verified, matrix }:
    & Pick<LinkSpeed, "gigabytesPerSecond" | "verified" | "matrix">
    & { readonly name: CopyCase | LatencyCase | LinkCase },
): NvbandwidthCase {
  const speeds = matrix.flat().filter((speed) => speed !== null);
  return {
    name,
    status: !verified ? "Error" : speeds.length === 0 ? "Waived" : "Passed",
    bandwidth_description: DESCRIPTIONS[name],
    bandwidth_matrix: matrix.map((line) =>
      line.map((speed) => speed === null ? "N/A" : `${speed}`)
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
    throw new TypeError(`Cannot read the output of nvbandwidth: ${messageOf(error)}`);
  }
}
