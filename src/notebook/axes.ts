// The unit in which an axis reads best, so that its numbers stay short: 1.5 GiB, 20 ms; and a logarithmic
// axis of sizes whose ticks are powers of two, because plotly's powers of ten are sizes of no buffer.

import type { LayoutAxis } from "npm:@types/plotly.js@3.0.14";
import { formatBytes } from "../words/format.ts";

/** A unit and how much of the base unit it is. */
export interface AxisUnit {
  /** Its name in titles. */
  readonly name: string;
  /** Bytes or seconds of one unit. */
  readonly size: number;
}

const BYTE_UNITS: readonly AxisUnit[] = [
  { name: "B", size: 1 },
  { name: "KiB", size: 2 ** 10 },
  { name: "MiB", size: 2 ** 20 },
  { name: "GiB", size: 2 ** 30 },
];

const SECOND_UNITS: readonly AxisUnit[] = [
  { name: "µs", size: 1e-6 },
  { name: "ms", size: 1e-3 },
  { name: "s", size: 1 },
  { name: "min", size: 60 },
];

/** Chooses the unit of sizes for an axis that reaches up to `largest` bytes. */
export function byteUnit(largest: number): AxisUnit {
  return largestBelow(BYTE_UNITS, largest);
}

/** Chooses the unit of times for an axis that reaches up to `largest` seconds. */
export function secondUnit(largest: number): AxisUnit {
  return largestBelow(SECOND_UNITS, largest / 3);
}

function largestBelow(units: readonly AxisUnit[], amount: number): AxisUnit {
  return units.findLast(({ size }) => size <= amount) ?? units[0] as AxisUnit;
}

/** More labels than this touch each other in a plot 800 pixels wide. */
const MAX_TICK_COUNT = 11;
/** Room left and right of the outermost points, in decades. */
const MARGIN_DECADES = 0.12;

/** Builds the axis for sizes, which must be positive and at least one. */
export function sizeAxis(byteLengths: readonly number[]): Partial<LayoutAxis> {
  const smallest = Math.min(...byteLengths);
  const largest = Math.max(...byteLengths);
  const ticks = powersOfTwo(smallest, largest);
  return {
    type: "log",
    range: [Math.log10(smallest) - MARGIN_DECADES, Math.log10(largest) + MARGIN_DECADES],
    tickmode: "array",
    tickvals: ticks,
    ticktext: ticks.map(formatBytes),
    minor: { ticks: "" },
  };
}

/** Lists powers of two between two sizes, evenly spaced and few enough to label. */
function powersOfTwo(smallest: number, largest: number): number[] {
  const first = Math.ceil(Math.log2(smallest));
  const last = Math.floor(Math.log2(largest));
  const step = Math.max(1, Math.ceil((last - first) / (MAX_TICK_COUNT - 1)));
  const ticks: number[] = [];
  for (let exponent = first; exponent <= last; exponent += step) ticks.push(2 ** exponent);
  return ticks;
}
