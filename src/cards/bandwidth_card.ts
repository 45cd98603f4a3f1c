// The card of a bandwidth sweep: one row for each size, one column for each direction and kind, and
// the fits in words.

import {
  type BandwidthFit,
  type BandwidthPoint,
  BandwidthResult,
  type CaseSpeed,
} from "../measure/bandwidth_result.ts";
import { describeBus } from "../measure/bus.ts";
import {
  LinkBandwidthResult,
  type LinkSpeed,
  type MeasuredDevice,
} from "../measure/link_bandwidth_result.ts";
import { formatBytes, formatCount, formatSeconds, formatSpeed } from "../words/format.ts";
import { wrapped } from "../words/wrapping.ts";
import { type Card, type CardPart, MODELLED, note, table } from "./card.ts";
import { cardText } from "./card_text.ts";
import { show } from "./show_card.ts";

show(BandwidthResult, bandwidthCard);
show(LinkBandwidthResult, linksCard);

const UNIT = "bandwidth in GB/s (1 GB = 10^9 bytes)";

const SHORT_DIRECTION = {
  "host-to-device": "H2D",
  "device-to-host": "D2H",
  "device-to-device": "D2D",
} as const;

/** Returns a short name of a direction and kind: `"H2D pinned"`. */
export function shortName(point: Pick<BandwidthPoint, "direction" | "kind">): string {
  const direction = SHORT_DIRECTION[point.direction];
  return point.kind === "device" ? direction : `${direction} ${point.kind}`;
}

/** Returns a sweep as text: title, speeds in GB/s by size, and the fitted lines in words. */
export function formatBandwidth(result: BandwidthResult): string {
  const [summary = "", ...lines] = cardText(bandwidthCard(result)).split("\n");
  return [wrapped(summary), ...lines].join("\n");
}

function bandwidthCard(result: BandwidthResult): Card {
  const { header, rows } = speedRows(result);
  const fits = result.fits.map(describeFit);
  const columns = Object.fromEntries(header.map((name) => [name, "right"] as const));
  const speeds = rows.length === 0 ? [] : [table(columns, rows.map((cells) => ({ cells })))];
  const cases: CardPart[] = [
    ...result.cases.length === 0 ? [] : [caseTable(result.cases, "GB/s")],
    ...result.latencies.length === 0 ? [] : [latencyTable(result)],
  ];
  return {
    title: result.provenance.device,
    kind: "",
    summary: [UNIT, busWords(result), ...modelledWords(result.provenance)].join(", "),
    parts: [...speeds, ...note(fits.join("\n")), ...cases],
  };
}

/** Makes the table of nvbandwidth's cases; `title` says what the speeds are. */
function caseTable(cases: readonly (CaseSpeed | LinkSpeed)[], title: string): CardPart {
  return table(
    { case: "left", size: "right", [title]: "right", slowest: "right", fastest: "right" },
    cases.map((found) => ({
      cells: [
        found.name,
        formatBytes(found.byteLength),
        speedCell(found),
        found.minGigabytesPerSecond.toPrecision(4),
        found.maxGigabytesPerSecond.toPrecision(4),
      ],
    })),
  );
}

/** Makes the table of nvbandwidth's latencies. */
function latencyTable({ latencies }: BandwidthResult): CardPart {
  return table(
    { case: "left", size: "right", access: "right", fastest: "right", slowest: "right" },
    latencies.map((found) => ({
      cells: [
        found.name,
        formatBytes(found.byteLength),
        `${formatSeconds(found.secondsPerAccess)}${found.verified ? "" : " WRONG ADDRESS"}`,
        formatSeconds(found.minSecondsPerAccess),
        formatSeconds(found.maxSecondsPerAccess),
      ],
    })),
  );
}

function linksCard({ provenance, devices, cases }: LinkBandwidthResult): Card {
  return {
    title: `${formatCount(devices.length, "device")}, ${provenance.device}`,
    kind: "LinkBandwidthResult",
    summary: [UNIT, ...modelledWords(provenance)].join(", "),
    parts: [
      caseTable(cases, "sum"),
      ...cases.flatMap(withDirections).map((found) => matrixTable(found, devices)),
    ],
  };
}

/** Returns the matrices of a case; those of the directions have nvbandwidth's names. */
function withDirections({ name, matrix, directions = [] }: LinkSpeed): NamedMatrix[] {
  const verb = name.includes("read") ? "read" : "write";
  return [
    ...directions.map((each, at) => ({ name: `${name}_${verb}${at + 1}`, matrix: each })),
    { name, matrix },
  ];
}

interface NamedMatrix extends Pick<LinkSpeed, "matrix"> {
  readonly name: string;
}

function matrixTable({ name, matrix }: NamedMatrix, devices: readonly MeasuredDevice[]): CardPart {
  const isSquare = matrix.length > 1;
  return {
    type: "table",
    header: [name, ...devices.map(({ ordinal }) => `device ${ordinal}`)],
    align: ["left", ...devices.map(() => "right" as const)],
    rows: matrix.map((line, row) => ({
      cells: [
        isSquare ? `device ${devices[row]?.ordinal ?? row}` : "",
        ...line.map((speed) => speed === null ? "" : speed.toPrecision(4)),
      ],
    })),
  };
}

/** Returns speeds by size, one column for each direction and kind. */
function speedRows({ points }: BandwidthResult): { header: string[]; rows: string[][] } {
  const lanes = Map.groupBy(points, shortName);
  const sizes = [...new Set(points.map((point) => point.byteLength))].sort((a, b) => a - b);
  const rows = sizes.map((size) => [
    formatBytes(size),
    ...[...lanes.values()].map((lane) => {
      const point = lane.find((candidate) => candidate.byteLength === size);
      return point === undefined ? "" : speedCell(point);
    }),
  ]);
  return { header: ["size", ...lanes.keys()], rows };
}

/** Returns the words for numbers that no hardware was measured for; none for others. */
export function modelledWords({ isModelled }: { readonly isModelled?: boolean }): string[] {
  return isModelled === true ? [MODELLED] : [];
}

function busWords({ busName: name, theoreticalGigabytesPerSecond }: BandwidthResult): string {
  if (theoreticalGigabytesPerSecond === null) return "bus unknown";
  return describeBus({ name, theoreticalGigabytesPerSecond });
}

/** Describes a fitted line in words. */
export function describeFit(fit: BandwidthFit): string {
  const { latencySeconds, gigabytesPerSecond, halfBandwidthBytes } = fit;
  return `${shortName(fit)}: ${formatSeconds(latencySeconds)} + bytes / ` +
    `${formatSpeed(gigabytesPerSecond)}, half of that speed from ` +
    `${formatBytes(Math.round(halfBandwidthBytes))}`;
}

function speedCell(
  point: Pick<BandwidthPoint, "gigabytesPerSecond" | "verified">,
): string {
  const speed = point.gigabytesPerSecond.toPrecision(4);
  return point.verified ? speed : `${speed} WRONG BYTES`;
}
