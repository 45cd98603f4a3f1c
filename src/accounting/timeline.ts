// Recent events of memory: allocations, frees, copies and tracks, in a ring of fixed size. It is
// off outside notebooks; while it is off it costs a comparison for each allocation.

import { checkSize, formatAddress, formatCount } from "../words/format.ts";
import { NUMBER, oneOf, OptionSet } from "../words/options.ts";
import { UNCLONEABLE_FIELD } from "../words/uncloneable.ts";
import { ALLOCATION_CSV_HEADER, formatAllocationRow } from "./allocation_csv.ts";
import { cellRuns, nameOfRun } from "./cell_runs.ts";
import { memoryVizOf, pickle, type PlacedEvent } from "./memory_viz.ts";
import { inNotebook } from "./notebook_kernel.ts";
import type { TimelineEvent, TimelineRecord } from "./timeline_event.ts";

/** Options for {@link Timeline.start}. */
export interface TimelineOptions {
  /** Number of events to keep; older ones are dropped. 16384 by default, about 3 MiB. */
  readonly eventCount?: number | undefined;
}

interface MemoryVizOptions {
  readonly format?: "pickle" | "json" | undefined;
}

const MEMORY_VIZ_OPTIONS = new OptionSet<MemoryVizOptions>({ format: oneOf("pickle", "json") });
const TIMELINE_OPTIONS = new OptionSet<TimelineOptions>({ eventCount: NUMBER });

interface TimedRecord {
  /** Time in milliseconds since the program's start. */
  readonly time: number;
  readonly record: TimelineRecord;
}

const DEFAULT_EVENT_COUNT = 16_384;

/**
 * The recent events of one device's memory: allocations, frees, copies and tracks. `gpu.timeline`
 * is one. It records in notebooks, and elsewhere after {@link Timeline.start}; read it with
 * {@link Timeline.events}, or export it to RMM's log, Chrome's trace format or PyTorch's viewer.
 */
export class Timeline implements Iterable<TimelineEvent> {
  #isOn = inNotebook();
  #eventCount = DEFAULT_EVENT_COUNT;
  #ring: TimedRecord[] = [];
  /** Number of events recorded so far; the next one's place in the ring follows from it. */
  #recordedCount = 0;
  /** Makes structuredClone() refuse it, with the text as the reason. */
  protected readonly [UNCLONEABLE_FIELD]: symbol = Symbol(
    "a timeline stays here; pass on its events()",
  );

  /** Tells whether it records. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Number of events that it holds. */
  get length(): number {
    return this.#ring.length;
  }

  /** Number of events that newer ones replaced. */
  get droppedCount(): number {
    return this.#recordedCount - this.#ring.length;
  }

  /** Drops all events and starts recording. */
  start(options: TimelineOptions = {}): this {
    const { eventCount = DEFAULT_EVENT_COUNT } = TIMELINE_OPTIONS.read(options, "start");
    this.#eventCount = Math.max(1, checkSize(eventCount, "event count"));
    this.clear();
    this.#isOn = true;
    return this;
  }

  /** Stops recording and keeps the recorded events. */
  stop(): this {
    this.#isOn = false;
    return this;
  }

  /** Drops all events. */
  clear(): void {
    this.#ring = [];
    this.#recordedCount = 0;
  }

  /** @ignore Records an event, whether the timeline is on or not. */
  record(record: TimelineRecord): void {
    const time = performance.now();
    this.#ring[this.#recordedCount++ % this.#eventCount] = { time, record };
  }

  /** Returns the events, oldest first. */
  events(): TimelineEvent[] {
    return this.#placed().map(({ stack: _, ...event }) => event);
  }

  /** The events with the places where their objects were made. */
  #placed(): PlacedEvent[] {
    return this.#inOrder().map(({ time, record }) => {
      const run = cellRuns.at(time);
      return {
        stack: undefined,
        ...record,
        timeSeconds: sinceEpoch(time) / 1000,
        cell: run && nameOfRun(run),
        address: formatAddress(record.address),
        stream: formatAddress(record.stream),
      };
    });
  }

  /** Iterates over the events, oldest first. */
  [Symbol.iterator](): Iterator<TimelineEvent> {
    return this.events()[Symbol.iterator]();
  }

  /** Returns allocations and frees as RMM's CSV log, which RMM's own benchmark can replay. */
  toCsv(): string {
    const rows = this.#inOrder().flatMap(({ time, record }) => {
      const { action } = record;
      if (action !== "allocate" && action !== "free") return [];
      return [formatAllocationRow({ ...record, action, time: sinceEpoch(time) })];
    });
    return `${[ALLOCATION_CSV_HEADER, ...rows].join("\n")}\n`;
  }

  /** Returns all events as JSON for chrome://tracing and ui.perfetto.dev. */
  toChromeTrace(): string {
    return toChromeTrace(this.events());
  }

  /**
   * Returns allocations and frees as a memory snapshot of PyTorch, which its viewer at
   * pytorch.org/memory_viz opens: labels, lines and cells are stacks, tracks are annotations. Device 0
   * is this device, and device 1 the host's page-locked memory. Lines are known of large blocks, in
   * notebooks of all, and of all after `CudaDevice.open(0, { origins: "line" })`. The result is a
   * pickle, or JSON as text with `{ format: "json" }`, which PyTorch's viewer does not open.
   */
  toMemoryViz(options?: { readonly format?: "pickle" | undefined }): Uint8Array<ArrayBuffer>;
  /** Returns allocations and frees as JSON of the same form. */
  toMemoryViz(options: { readonly format: "json" }): string;
  toMemoryViz(options: MemoryVizOptions = {}): Uint8Array<ArrayBuffer> | string {
    const { format } = MEMORY_VIZ_OPTIONS.read(options, "toMemoryViz");
    const snapshot = memoryVizOf(this.#placed());
    return format === "json" ? JSON.stringify(snapshot) : pickle(snapshot);
  }

  /** Returns the events for JSON, oldest first. */
  toJSON(): TimelineEvent[] {
    return this.events();
  }

  /** Returns its state as text: `Timeline: recording, 12 events`. */
  toString(): string {
    return `Timeline: ${this.state}`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }

  /** @ignore Returns whether it records and how many events it holds, as text. */
  get state(): string {
    const { isOn, length, droppedCount } = this;
    const dropped = droppedCount === 0 ? "" : `, ${droppedCount} dropped`;
    const events = `${formatCount(length, "event")}${dropped}`;
    return isOn ? `recording, ${events}` : `not recording, ${events}; start() begins anew`;
  }

  #inOrder(): TimedRecord[] {
    const oldest = this.droppedCount === 0 ? 0 : this.#recordedCount % this.#eventCount;
    return [...this.#ring.slice(oldest), ...this.#ring.slice(0, oldest)];
  }
}

/** Milliseconds since 1970, finer than Date.now(). */
function sinceEpoch(time: number): number {
  return performance.timeOrigin + time;
}

/** One entry of Chrome's trace format; times are microseconds. */
type TraceEvent = Readonly<Record<string, unknown>>;

const PROCESS = { pid: 1, tid: 1 };

/** Returns events as trace JSON: a counter, a bar for each block and track, marks for copies. */
function toChromeTrace(events: readonly TimelineEvent[]): string {
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
