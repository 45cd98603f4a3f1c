// A logarithmic axis of sizes whose ticks are powers of two: 4 KiB, 16 KiB, 64 KiB, ...
// plotly's own ticks are powers of ten, which no buffer has.

import type { LayoutAxis } from "npm:@types/plotly.js@3.0.14";
import { formatBytes } from "../words/format.ts";

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
