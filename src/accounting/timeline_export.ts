// A timeline in the formats of other tools: RMM's allocation log, and Chrome's trace events.

import {
  ALLOCATION_CSV_HEADER,
  type AllocationRow,
  formatAllocationRow,
} from "./allocation_csv.ts";
import type { TimelineEvent } from "./timeline_event.ts";

/** One entry of Chrome's trace format; times are microseconds. */
type TraceEvent = Readonly<Record<string, unknown>>;

const PROCESS = { pid: 1, tid: 1 };

/** Returns rows as a log with its header. */
export function toAllocationCsv(rows: readonly AllocationRow[]): string {
  return `${[ALLOCATION_CSV_HEADER, ...rows.map(formatAllocationRow)].join("\n")}\n`;
}

/** Returns events as trace JSON: a counter, a bar for each block and track, marks for copies. */
export function toChromeTrace(events: readonly TimelineEvent[]): string {
  const born = new Set<string>();
  const traceEvents: TraceEvent[] = [
    { name: "process_name", ph: "M", ...PROCESS, args: { name: "vramkit" } },
  ];
  for (const event of events) {
    traceEvents.push(...traceEventsOf(event, born));
  }
  return JSON.stringify({ traceEvents, displayTimeUnit: "ms" });
}

function traceEventsOf(event: TimelineEvent, born: Set<string>): TraceEvent[] {
  const { action, name, kind, byteLength, source = "host" } = event;
  const at = { ...PROCESS, ts: event.timeSeconds * 1e6 };
  if (action === "copy") {
    const args = { bytes: byteLength, from: source, to: name };
    return [{ name: `copy to ${name}`, cat: "copy", ph: "i", s: "p", ...at, args }];
  }
  const isTrack = action === "begin" || action === "end";
  const id = isTrack ? `track ${name}` : String(event.id);
  const life = { name, cat: isTrack ? "track" : "allocation", id, ...at };
  const counter = { name: "device memory", ph: "C", ...at, args: { bytes: event.deviceBytes } };
  if (action === "allocate" || action === "begin") {
    born.add(id);
    return [{ ...life, ph: "b", args: { bytes: byteLength, kind } }, counter];
  }
  // The ring may have dropped the beginning of the block or track that ends here.
  return born.delete(id) ? [{ ...life, ph: "e" }, counter] : [counter];
}
