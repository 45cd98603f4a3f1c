// A bandwidth result as the lines of a plot: one for each direction and kind of memory, with the fit that
// belongs to it; and their panels: copies over the bus, and below them copies within the device. Those are
// tens of times faster: on a common axis the bus's lines would lie flat at the bottom.

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

/** Plotly's names of the first and the second axis of speeds. */
export type SpeedAxis = "y" | "y2";

/** The lines that share one axis of speeds. */
export interface Panel {
  readonly title: string;
  readonly yaxis: SpeedAxis;
  /** Bottom and top, as shares of the plot's height. */
  readonly domain: readonly [number, number];
  /** Lines of the first result, then of the second. */
  readonly runs: readonly (readonly BandwidthLine[])[];
  /** Theoretical speeds of the bus, each with its label. */
  readonly roofs: ReadonlyMap<number, string>;
}

type PanelContent = Pick<Panel, "title" | "runs" | "roofs">;

/** Sorts the lines of all results into panels, the bus on top; a panel without lines is left out. */
export function bandwidthPanels(results: readonly BandwidthResult[]): Panel[] {
  const runs = results.map(bandwidthLines);
  const isWithin = (line: BandwidthLine): boolean => line.direction === "device-to-device";
  const contents: PanelContent[] = [
    {
      title: "GB/s over the bus",
      runs: runs.map((lines) => lines.filter((line) => !isWithin(line))),
      roofs: roofsOf(results),
    },
    {
      title: "GB/s on the device",
      runs: runs.map((lines) => lines.filter(isWithin)),
      roofs: new Map(),
    },
  ];
  const [upper, lower] = contents.filter((panel) => panel.runs.flat().length > 0);
  if (upper === undefined) return [];
  if (lower === undefined) return [{ ...upper, yaxis: "y", domain: [0, 1] }];
  return [
    { ...upper, yaxis: "y", domain: [0.38, 1] },
    { ...lower, yaxis: "y2", domain: [0, 0.3] },
  ];
}

/** Finds the highest speed that a panel must have room for. */
export function highestSpeed(panel: Panel): number {
  const points = panel.runs.flat().flatMap((line) => line.points);
  return Math.max(...panel.roofs.keys(), ...points.map((point) => point.maxGigabytesPerSecond));
}

/** Returns the theoretical speeds; results over the same bus share one entry. */
function roofsOf(results: readonly BandwidthResult[]): Map<number, string> {
  const roofs = new Map<number, string>();
  for (const { theoreticalGigabytesPerSecond: speed, busName } of results) {
    if (speed === null) continue;
    roofs.set(speed, `${busName}: at most ${speed.toFixed(1)} GB/s one way`);
  }
  return roofs;
}
