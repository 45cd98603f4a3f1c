// A device's memory as one bar: live and cached memory of this program, memory of others, and free
// memory.

import type { DeviceMemory } from "../device/device_memory.ts";
import { formatBytes } from "../words/format.ts";
import type { BarSegment, CardPart } from "./card.ts";

/** Draws a device's memory by use. */
export function memoryBar(
  { freeBytes, liveBytes, cachedBytes, otherBytes }: Pick<
    DeviceMemory,
    "freeBytes" | "liveBytes" | "cachedBytes" | "otherBytes"
  >,
): CardPart {
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
      segment("live", liveBytes, "solid"),
      segment("left", leftBytes, "empty"),
    ],
  }];
}

/** Makes one stretch of a bar, with its size in words. */
export function segment(name: string, amount: number, fill: BarSegment["fill"]): BarSegment {
  return { name, amount, text: formatBytes(amount), fill };
}
