// The traces of a bandwidth plot: a line with its spread, and a ring where half the speed is reached.
// Direction is colour and marker shape, kind of memory is filled or open, the run by its dashes.

import type { Dash, ErrorBar, PlotData } from "npm:@types/plotly.js@3.0.14";
import { describeFit } from "../cards/bandwidth_card.ts";
import { escapeHtml } from "../cards/html.ts";
import type { BandwidthPoint, CopyDirection } from "../measure/bandwidth_result.ts";
import { formatBytes, formatSeconds } from "../words/format.ts";
import { type BandwidthLine, hasHalfSpeedPoint, type SpeedAxis } from "./bandwidth_lines.ts";
import { speedDigits } from "./bandwidth_words.ts";

/**
 * Three hues that stay apart under each common colour blindness, on white and on black. Both
 * directions of a bus are often equally fast: the later, smaller marker leaves the other visible.
 */
const LOOK_OF_DIRECTION = {
  "host-to-device": { color: "#2f81c7", symbol: "triangle-up", size: 12 },
  "device-to-host": { color: "#d55e00", symbol: "triangle-down", size: 7 },
  "device-to-device": { color: "#009e73", symbol: "diamond", size: 8 },
} as const satisfies Record<CopyDirection, object>;

const DASHES: readonly Dash[] = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];

/** A spread below this share of the median would hide behind the marker. */
const VISIBLE_SPREAD = 0.05;

export interface TracePlace {
  readonly yaxis: SpeedAxis;
  /** Index of the compared result that it comes from; 0 for a single one. */
  readonly run: number;
  /** Prefix of the line's name when two results are compared. */
  readonly runName: string;
}

/** Draws a line's medians; rings, hover boxes and the description show its fit. */
export function lineTrace(line: BandwidthLine, place: TracePlace): Partial<PlotData> {
  const { color, symbol, size } = LOOK_OF_DIRECTION[line.direction];
  const prefix = place.runName === "" ? "" : `${place.runName}: `;
  const open = line.kind === "pageable" ? "-open" : "";
  return {
    type: "scatter",
    mode: "lines+markers",
    name: escapeHtml(prefix + line.name),
    yaxis: place.yaxis,
    x: line.points.map((point) => point.byteLength),
    y: line.points.map((point) => point.gigabytesPerSecond),
    error_y: spreadBars(line.points),
    line: { color, width: 1.5, dash: DASHES[place.run % DASHES.length] ?? "solid" },
    marker: { color, size, symbol: `${symbol}${open}` },
    text: line.points.map((point) => hoverText(`${prefix}${line.name}`, point)),
    hovertemplate: "%{text}<extra></extra>",
  };
}

/** Draws a ring on each fit, at the size where latency takes half the time. */
export function halfSpeedTrace(
  lines: readonly BandwidthLine[],
  yaxis: SpeedAxis,
): Partial<PlotData>[] {
  const marked = lines.filter(hasHalfSpeedPoint);
  if (marked.length === 0) return [];
  return [{
    type: "scatter",
    mode: "markers",
    name: "half of the fitted speed",
    yaxis,
    x: marked.map(({ fit }) => fit.halfBandwidthBytes),
    y: marked.map(({ fit }) => fit.gigabytesPerSecond / 2),
    marker: {
      symbol: "circle-open",
      size: 16,
      color: marked.map(({ direction }) => LOOK_OF_DIRECTION[direction].color),
      line: { width: 1.5 },
    },
    text: marked.map(({ fit }) => escapeHtml(describeFit(fit))),
    hovertemplate: "%{text}<extra></extra>",
  }];
}

/** Bars from the slowest to the fastest sample, left out where they would be too small to see. */
function spreadBars(points: readonly BandwidthPoint[]): ErrorBar {
  const spreads = points.map((point) =>
    (point.maxGigabytesPerSecond - point.minGigabytesPerSecond) / point.gigabytesPerSecond
  );
  return {
    type: "data",
    symmetric: false,
    visible: spreads.some((spread) => spread > VISIBLE_SPREAD),
    array: points.map((point) => point.maxGigabytesPerSecond - point.gigabytesPerSecond),
    arrayminus: points.map((point) => point.gigabytesPerSecond - point.minGigabytesPerSecond),
    thickness: 1,
    width: 3,
  };
}

function hoverText(name: string, point: BandwidthPoint): string {
  const [median, lowest, highest] = [
    point.gigabytesPerSecond,
    point.minGigabytesPerSecond,
    point.maxGigabytesPerSecond,
  ].map(speedDigits);
  return [
    `<b>${escapeHtml(name)}, ${formatBytes(point.byteLength)}</b>`,
    `${median} GB/s (${lowest} to ${highest})`,
    `${formatSeconds(point.secondsPerCopy)} a copy`,
    `${point.sampleCount} samples of ${point.copiesPerSample} copies`,
    point.verified ? "every byte verified" : "WRONG BYTES",
  ].join("<br>");
}
