// What happened to memory lately: allocations, frees, copies and tracks, in a ring of fixed size.
// It is off outside notebooks; while it is off it costs a comparison for each allocation.

import type { AllocationRow } from "./allocation_csv.ts";
import { cellRuns, nameOfRun } from "./cell_runs.ts";
import { checkSize, formatAddress, formatCount } from "../format.ts";
import { NUMBER, OptionSet } from "../options.ts";
import { inNotebook } from "./notebook_kernel.ts";
import type { TimelineEvent, TimelineRecord } from "./timeline_event.ts";
import { toAllocationCsv, toChromeTrace } from "./timeline_export.ts";

/** How much of the past to keep. */
export interface TimelineOptions {
  /** Most events; older ones are dropped. 16384 by default, about 3 MiB. */
  readonly eventCount?: number;
}

const TIMELINE_OPTIONS = new OptionSet<TimelineOptions>({ eventCount: NUMBER });

interface TimedRecord {
  /** Milliseconds since the program's start. */
  readonly time: number;
  readonly record: TimelineRecord;
}

const DEFAULT_EVENT_COUNT = 16_384;

/** The last events of one device. */
export class Timeline implements Iterable<TimelineEvent> {
  #isOn = inNotebook();
  #eventCount = DEFAULT_EVENT_COUNT;
  #ring: TimedRecord[] = [];
  /** How many events were recorded; the place of the next one in the ring follows from it. */
  #recordedCount = 0;

  /** Whether it records. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** How many events it keeps now. */
  get length(): number {
    return this.#ring.length;
  }

  /** How many events were dropped because newer ones took their place. */
  get droppedCount(): number {
    return this.#recordedCount - this.#ring.length;
  }

  /** Starts anew with no events. */
  start(options: TimelineOptions = {}): this {
    const { eventCount = DEFAULT_EVENT_COUNT } = TIMELINE_OPTIONS.read(options, "start");
    this.#eventCount = Math.max(1, checkSize(eventCount, "event count"));
    this.clear();
    this.#isOn = true;
    return this;
  }

  /** Stops recording and keeps what was recorded. */
  stop(): this {
    this.#isOn = false;
    return this;
  }

  /** Forgets all events. */
  clear(): void {
    this.#ring = [];
    this.#recordedCount = 0;
  }

  /** Records an event, whether the timeline is on or not. */
  record(record: TimelineRecord): void {
    const time = performance.now();
    this.#ring[this.#recordedCount++ % this.#eventCount] = { time, record };
  }

  /** Lists what happened, oldest first. */
  events(): TimelineEvent[] {
    return this.#inOrder().map(({ time, record }) => ({
      ...record,
      timeSeconds: sinceEpoch(time) / 1000,
      cell: cellNameAt(time),
      address: formatAddress(record.address),
      stream: formatAddress(record.stream),
    }));
  }

  /** Walks what happened, oldest first. */
  [Symbol.iterator](): Iterator<TimelineEvent> {
    return this.events()[Symbol.iterator]();
  }

  /** Writes allocations and frees as RMM's log, which RMM's own benchmark can replay. */
  toCsv(): string {
    return toAllocationCsv(
      this.#inOrder().flatMap(({ time, record }): AllocationRow[] => {
        const { action } = record;
        if (action !== "allocate" && action !== "free") return [];
        return [{ ...record, action, time: sinceEpoch(time) }];
      }),
    );
  }

  /** Writes everything as JSON for chrome://tracing and ui.perfetto.dev. */
  toChromeTrace(): string {
    return toChromeTrace(this.events());
  }

  /** Says whether it records and how much it holds: `Timeline: recording, 12 events`. */
  toString(): string {
    return `Timeline: ${this.state}`;
  }

  /** Shows the same on a console. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }

  /**
   * Says whether it records, and how much.
   *
   * @internal
   */
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

function cellNameAt(time: number): string | undefined {
  const run = cellRuns.at(time);
  return run && nameOfRun(run);
}

/** Milliseconds since 1970, finer than Date.now(). */
function sinceEpoch(time: number): number {
  return performance.timeOrigin + time;
}
