// The cards of accounts: a report of a device's memory, and the counts of a track.

import type { MemoryTrack } from "../accounting/memory_track.ts";
import type { Timeline } from "../accounting/timeline.ts";
import type { MemoryReport } from "../device/report.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import type { Card } from "./card.ts";
import { liveCard } from "./live_card.ts";
import { memoryBar } from "./memory_bar.ts";

/** Makes the card of a report. */
export function reportCard({ data, live }: MemoryReport): Card {
  const { provenance: { device, driver, vramkit, date }, memory } = data;
  const { parts } = liveCard(live.objects);
  return {
    title: device,
    kind: "MemoryReport",
    summary: `CUDA ${driver}, vramkit ${vramkit}, ${date}`,
    parts: [memoryBar(memory), ...parts],
  };
}

/** Makes the card of a track. */
export function trackCard(track: MemoryTrack): Card {
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

/** Makes the card of a timeline. */
export function timelineCard(timeline: Timeline): Card {
  const text = "plotMemoryTimeline(gpu) of vramkit/notebook draws it; iterating gives the events";
  return { title: "Timeline", kind: "", summary: timeline.state, parts: [{ type: "note", text }] };
}
