// A bandwidth result as the lines of a plot: one for each direction and kind of memory. A line has
// a name, points by size, and the fit that belongs to it.

import { shortName } from "../cards/bandwidth_card.ts";
import type {
  BandwidthFit,
  BandwidthPoint,
  BandwidthResult,
  CopyDirection,
  HostKind,
} from "../measure/bandwidth_result.ts";

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

/** Largest deviation from the measured speed at which a fit describes the line. */
const MAX_DEVIATION = 0.25;

/** Tells whether a line has a fit whose half-speed point lies on it, among the measured sizes. */
export function hasHalfSpeedPoint(line: BandwidthLine): line is FittedLine {
  if (line.fit === null) return false;
  const { halfBandwidthBytes, gigabytesPerSecond } = line.fit;
  const measured = speedBetween(line.points, halfBandwidthBytes);
  const fitted = gigabytesPerSecond / 2;
  return measured !== undefined && Math.abs(measured - fitted) <= MAX_DEVIATION * fitted;
}

/** The speed at a size as the plot's line shows it; undefined outside of the measured sizes. */
function speedBetween(points: readonly BandwidthPoint[], byteLength: number): number | undefined {
  const above = points.find((point) => point.byteLength >= byteLength);
  const below = points.findLast((point) => point.byteLength <= byteLength);
  if (above === undefined || below === undefined) return undefined;
  if (above === below) return above.gigabytesPerSecond;
  const share = Math.log(byteLength / below.byteLength) /
    Math.log(above.byteLength / below.byteLength);
  const gain = above.gigabytesPerSecond - below.gigabytesPerSecond;
  return below.gigabytesPerSecond + share * gain;
}
