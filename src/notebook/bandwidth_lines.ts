// A bandwidth result as the lines of a plot: one for each direction and kind of memory.
// A line knows its name, its points by size, and the fit that belongs to it.

import type {
  BandwidthFit,
  BandwidthPoint,
  BandwidthResult,
  CopyDirection,
  HostKind,
} from "../measure/bandwidth_result.ts";
import { shortName } from "../measure/bandwidth_table.ts";

/** Holds the points of one direction and one kind of memory, smallest size first. */
export interface BandwidthLine {
  readonly name: string;
  readonly direction: CopyDirection;
  readonly kind: HostKind;
  readonly points: readonly BandwidthPoint[];
  /** The line's `t = latency + bytes / bandwidth`, or null where the result has none. */
  readonly fit: BandwidthFit | null;
}

/** A line that has a fit. */
export type FittedLine = BandwidthLine & { readonly fit: BandwidthFit };

/** Groups a result's points into lines, in the order in which they first appear. */
export function bandwidthLines(result: BandwidthResult): BandwidthLine[] {
  const groups = Map.groupBy(result.points, shortName);
  return [...groups].map(([name, points]) => {
    const { direction, kind } = points[0] as BandwidthPoint; // a group is never empty
    return {
      name,
      direction,
      kind,
      points: points.toSorted((a, b) => a.byteLength - b.byteLength),
      fit: result.fits.find((fit) => shortName(fit) === name) ?? null,
    };
  });
}

/** Finds the point of a line with the highest median speed. */
export function fastestPoint(line: BandwidthLine): BandwidthPoint {
  return line.points.reduce((best, point) =>
    point.gigabytesPerSecond > best.gigabytesPerSecond ? point : best
  );
}

/** Tells whether a line has a fit whose half-speed point lies among the measured sizes. */
export function hasHalfSpeedPoint(line: BandwidthLine): line is FittedLine {
  const [smallest] = line.points;
  const largest = line.points.at(-1);
  if (line.fit === null || smallest === undefined || largest === undefined) return false;
  const { halfBandwidthBytes } = line.fit;
  return halfBandwidthBytes >= smallest.byteLength && halfBandwidthBytes <= largest.byteLength;
}
