// A bandwidth result in words: the plot's title, names that distinguish two results, and a
// description with every number that a reader would take from the plot.

import { describeFit, modelledWords } from "../cards/bandwidth_card.ts";
import type { BandwidthPoint, BandwidthResult } from "../measure/bandwidth_result.ts";
import { formatBytes } from "../words/format.ts";
import { type BandwidthLine, bandwidthLines, fastestPoint } from "./bandwidth_lines.ts";

/** Fields that may distinguish two results, the most telling first. */
const TELLING_FIELDS = ["device", "vramkit", "driver", "deno", "ordinal", "date"] as const;

/** Names each result by the first field in which they all differ; a single result needs no name. */
export function resultNames(results: readonly BandwidthResult[]): string[] {
  if (results.length === 1) return [""];
  const telling = TELLING_FIELDS.find((field) => {
    const values = new Set(results.map((result) => result.provenance[field]));
    return values.size === results.length && !values.has(undefined);
  });
  if (telling === undefined) return results.map((_, index) => `run ${index + 1}`);
  return results.map(({ provenance }) => {
    if (telling === "device" || telling === "date") return provenance[telling];
    return `${telling === "ordinal" ? "device" : telling} ${provenance[telling]}`;
  });
}

/** Names the devices that were measured, each once. */
export function bandwidthTitle(results: readonly BandwidthResult[]): string {
  const devices = new Set(results.map((result) => result.provenance.device));
  return `Copy bandwidth: ${[...devices].join(" and ")}`;
}

/** Says where and with what a result was measured, in one line; wrong bytes are mentioned. */
export function provenanceWords(result: BandwidthResult): string {
  const { driver, deno, vramkit, date } = result.provenance;
  const bus = result.busName === "unknown" ? [] : [result.busName];
  const day = date.slice(0, "2026-01-01".length);
  const wrongCount = result.points.filter((point) => !point.verified).length;
  const warning = wrongCount === 0
    ? []
    : [`WRONG BYTES in ${wrongCount} of ${result.points.length} points`];
  return [
    ...modelledWords(result.provenance),
    ...bus,
    `CUDA ${driver}`,
    `Deno ${deno}`,
    `vramkit ${vramkit}`,
    day,
    ...warning,
  ].join(", ");
}

/** Says the same after the result's own name, where it has one. */
export function headingOf(result: BandwidthResult, name = ""): string {
  return name === "" ? provenanceWords(result) : `${name}: ${provenanceWords(result)}`;
}

/** Describes results line by line: slowest, fastest, share of the bus, and the fit. */
export function describeBandwidth(results: readonly BandwidthResult[]): string {
  const names = resultNames(results);
  const paragraphs = results.map((result, index) => describeResult(result, names[index] ?? ""));
  return [`${bandwidthTitle(results)}.`, ...paragraphs, LEGEND].join("\n");
}

const LEGEND = "Speeds are medians; 1 GB = 10^9 bytes, each byte counted once. " +
  "H2D is host to device, D2H device to host, D2D within the device.";

function describeResult(result: BandwidthResult, name: string): string {
  const lines = bandwidthLines(result).map((line) => describeLine(line, result));
  return [`${headingOf(result, name)}.`, ...lines].join("\n");
}

function describeLine(line: BandwidthLine, result: BandwidthResult): string {
  const fastest = fastestPoint(line);
  const [smallest = fastest] = line.points;
  const speeds = smallest === fastest
    ? speedAt(fastest)
    : `${speedAt(smallest)}, at most ${speedAt(fastest)}`;
  const fit = line.fit === null ? "" : ` Fit of ${describeFit(line.fit)}.`;
  return `${line.name}: ${speeds}${busShare(line, result)}.${fit}`;
}

function speedAt(point: BandwidthPoint): string {
  return `${speedDigits(point.gigabytesPerSecond)} GB/s at ${formatBytes(point.byteLength)}`;
}

/** Formats a speed with four significant digits, and never with an exponent in the thousands. */
export function speedDigits(gigabytesPerSecond: number): string {
  return String(Number(gigabytesPerSecond.toPrecision(4)));
}

/** A copy within the device does not cross the bus, so its speed is no share of it. */
function busShare(line: BandwidthLine, result: BandwidthResult): string {
  const roof = result.theoreticalGigabytesPerSecond;
  if (roof === null || line.direction === "device-to-device") return "";
  const percent = Math.round(100 * fastestPoint(line).gigabytesPerSecond / roof);
  return `, ${percent}% of the bus's theoretical ${roof.toFixed(1)} GB/s`;
}
