// The panels of a bandwidth plot: copies over the bus, and below them copies within the device.
// Those are tens of times faster: on a common axis the bus's lines would lie flat at the bottom.

import type { BandwidthResult } from "../measure/bandwidth_result.ts";
import { type BandwidthLine, bandwidthLines } from "./bandwidth_lines.ts";

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
