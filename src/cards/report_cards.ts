// The cards of accounts: a whole report of a device's memory, and what a track counted.

import { formatBytes, formatCount } from "../format.ts";
import type { Card } from "./card.ts";
import { liveCard, type LiveFacts } from "./live_card.ts";
import { type MemoryAmounts, memoryBar } from "./memory_bar.ts";

/** What the card of a report shows. */
export interface ReportFacts {
  /** Which device. */
  readonly device: string;
  /** When, and with what, in words. */
  readonly provenance: string;
  /** What the device's memory is used for. */
  readonly memory: MemoryAmounts;
  /** Live objects, largest first. */
  readonly live: readonly LiveFacts[];
}

/** What the card of a track shows. */
export interface TrackFacts {
  /** Its name. */
  readonly label: string;
  /** Whether it was ended. */
  readonly ended: boolean;
  /** Bytes held now, or when it ended. */
  readonly currentBytes: number;
  /** The most bytes held at once. */
  readonly peakBytes: number;
  /** Bytes of all allocations. */
  readonly totalBytes: number;
  /** All allocations. */
  readonly totalCount: number;
}

/** Makes the card of a report. */
export function reportCard({ device, provenance, memory, live }: ReportFacts): Card {
  const { parts } = liveCard(live);
  return {
    title: device,
    kind: "MemoryReport",
    summary: provenance,
    parts: [memoryBar(memory), ...parts],
  };
}

/** Makes the card of a track. */
export function trackCard(track: TrackFacts): Card {
  const { label, ended, currentBytes, peakBytes, totalBytes, totalCount } = track;
  return {
    title: label,
    kind: "MemoryTrack",
    summary: `${formatBytes(currentBytes)} ${ended ? "left at its end" : "held now"}`,
    parts: [{
      type: "facts",
      facts: [
        ["peak", formatBytes(peakBytes)],
        ["in all", `${formatBytes(totalBytes)} in ${formatCount(totalCount, "allocation")}`],
      ],
    }],
  };
}
