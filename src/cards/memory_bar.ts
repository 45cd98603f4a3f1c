// A device's memory as one bar: live and cached memory of this program, memory of others, and free
// memory.

import { formatBytes } from "../words/format.ts";
import type { BarSegment, CardPart } from "./card.ts";

/** A device's memory by use, in bytes: free + live + cached + other is the total. */
export interface MemoryAmounts {
  /** Free for all programs. */
  readonly freeBytes: number;
  /** In this program's live buffers on the device. */
  readonly liveBytes: number;
  /** Kept for reuse on the device. */
  readonly cachedBytes: number;
  /** Held by other programs and by the driver itself. */
  readonly otherBytes: number;
}

/** Draws a device's memory. */
export function memoryBar(amounts: MemoryAmounts): CardPart {
  const { freeBytes, liveBytes, cachedBytes, otherBytes } = amounts;
  const segment = (name: string, amount: number, fill: BarSegment["fill"]): BarSegment => ({
    name,
    amount,
    text: formatBytes(amount),
    fill,
  });
  return {
    type: "bar",
    segments: [
      segment("live", liveBytes, "solid"),
      segment("cached", cachedBytes, "hatched"),
      segment("other", otherBytes, "dotted"),
      segment("free", freeBytes, "empty"),
    ],
  };
}

/** Draws how much of a limit is used; nothing without one. */
export function limitBar(
  { liveBytes, limitBytes }: {
    readonly liveBytes: number;
    readonly limitBytes?: number | undefined;
  },
): CardPart[] {
  if (limitBytes === undefined) return [];
  const leftBytes = Math.max(0, limitBytes - liveBytes);
  return [{
    type: "bar",
    caption: `limit ${formatBytes(limitBytes)}`,
    segments: [
      { name: "live", amount: liveBytes, text: formatBytes(liveBytes), fill: "solid" },
      { name: "left", amount: leftBytes, text: formatBytes(leftBytes), fill: "empty" },
    ],
  }];
}
