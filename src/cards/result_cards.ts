// The cards of measurements: the time of a piece of work, and a sweep of bandwidth.

import { formatBytes, formatSeconds, formatSpeed } from "../format.ts";
import type { Card, CardPart, CardRow } from "./card.ts";

/** What the card of a timing shows. */
export interface TimingFacts {
  /** Time on the GPU's clock. */
  readonly gpuSeconds: number;
  /** Time on the host, waiting included. */
  readonly hostSeconds: number;
  /** Bytes that were copied meanwhile. */
  readonly copiedBytes: number;
  /** Copied bytes over GPU time. */
  readonly gigabytesPerSecond: number;
}

/** What the card of a sweep shows. */
export interface SweepFacts {
  /** Which device. */
  readonly device: string;
  /** What the bus allows, in words. */
  readonly bus: string;
  /** Names of the columns, the size first. */
  readonly header: readonly string[];
  /** Texts of the rows, one row a size. */
  readonly rows: readonly (readonly string[])[];
  /** The fitted lines in words. */
  readonly fits: readonly string[];
}

/** Makes the card of a timing. */
export function timingCard(timing: TimingFacts): Card {
  const { gpuSeconds, hostSeconds, copiedBytes, gigabytesPerSecond } = timing;
  const copied: (readonly [string, string])[] = copiedBytes === 0 ? [] : [
    ["copied", formatBytes(copiedBytes)],
    ["speed", formatSpeed(gigabytesPerSecond)],
  ];
  return {
    title: formatSeconds(gpuSeconds),
    kind: "Timing",
    summary: "on the GPU's clock",
    parts: [{ type: "facts", facts: [["host", formatSeconds(hostSeconds)], ...copied] }],
  };
}

/** Makes the card of a sweep. */
export function sweepCard({ device, bus, header, rows, fits }: SweepFacts): Card {
  const table: CardPart = {
    type: "table",
    header,
    align: header.map(() => "right"),
    rows: rows.map((cells): CardRow => ({ cells })),
  };
  const words: CardPart[] = fits.length === 0 ? [] : [{ type: "note", text: fits.join("\n") }];
  return {
    title: device,
    kind: "",
    summary: `bandwidth in GB/s (1 GB = 10^9 bytes), ${bus}`,
    parts: [table, ...words],
  };
}
