// Streams, the operations that wait on them, and events.
// An operation is done only when the scheduler has run it.

import type { Capture, CapturedMark } from "./capture.ts";
import type { Context } from "./context.ts";
import type { Engine } from "./engine.ts";
import { hex, refuse } from "./errors.ts";
import { type Moment, Timeline } from "./happens_before.ts";

/**
 * Order of a stream relative to the legacy default stream: it is that stream, follows it, or
 * ignores it.
 */
export type StreamRole = "legacy" | "blocking" | "nonblocking";

/** The work of an operation, and the memory it needs. */
export interface Work {
  /** Virtual seconds on the engine. */
  seconds?: number;
  /** Unit that is busy meanwhile. */
  engine?: Engine | undefined;
  /** Operations on other streams that must be done first. */
  after?: readonly Operation[];
  /** Says why the operation cannot start yet. */
  blocked?: (() => string | undefined) | undefined;
  /** Does the work. */
  run?: () => void;
}

/** One piece of work on a stream. */
export class Operation {
  /** Stream that the operation waits on. */
  readonly stream: Stream;
  /** Driver function that queued it. */
  readonly call: string;
  /** Its place in the order. */
  readonly moment: Moment;
  /** Virtual time at which it was queued. */
  readonly queuedAtSeconds: number;
  /** The work; undefined once done. */
  work: Work | undefined;
  /** Virtual time at which it ended. */
  finishedAtSeconds = 0;

  /** Describes an operation that is not done yet. */
  constructor(stream: Stream, options: {
    call: string;
    moment: Moment;
    queuedAtSeconds: number;
    work: Work;
  }) {
    this.stream = stream;
    this.call = options.call;
    this.moment = options.moment;
    this.queuedAtSeconds = options.queuedAtSeconds;
    this.work = options.work;
  }

  /** Returns whether the operation has run. */
  get isDone(): boolean {
    return this.work === undefined;
  }
}

/** A queue of operations that run in order. */
export class Stream {
  /** Context that the stream belongs to. */
  readonly context: Context;
  /** Value that callers hold. */
  readonly handle: bigint;
  /** Order against the legacy default stream. */
  readonly role: StreamRole;
  /** Order of the stream's operations against those of others. */
  readonly timeline: Timeline;
  /** Virtual time at which the last operation that ran has ended. */
  atSeconds = 0;
  /** Capture that the stream takes part in. */
  capture: Capture | undefined;
  #operations: Operation[] = [];
  #head = 0;

  /** Makes an empty stream; messages call it by its handle unless it has a name. */
  constructor(context: Context, handle: bigint, role: StreamRole, name = nameOf(handle, role)) {
    this.context = context;
    this.handle = handle;
    this.role = role;
    this.timeline = new Timeline(`${name} of device ${context.device.ordinal}`, context.waits);
  }

  /** Returns the operation to run next. */
  get head(): Operation | undefined {
    return this.#operations[this.#head];
  }

  /** Returns how many operations wait. */
  get length(): number {
    return this.#operations.length - this.#head;
  }

  /** Returns the operation that was queued last, while it is not done. */
  get tail(): Operation | undefined {
    return this.length > 0 ? this.#operations.at(-1) : undefined;
  }

  /** Rejects a call that a capture cannot record, and invalidates the capture. */
  requireUncaptured(): void {
    this.capture?.invalidate("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
  }

  /** Adds an operation. */
  push(operation: Operation): void {
    this.#operations.push(operation);
  }

  /** Removes the operation that was run. */
  shift(): void {
    this.#head++;
    // Dropping the done half now and then keeps a queue that never empties from growing.
    if (this.#head < 64 || this.#head * 2 < this.#operations.length) return;
    this.#operations = this.#operations.slice(this.#head);
    this.#head = 0;
  }
}

function nameOf(handle: bigint, role: StreamRole): string {
  return role === "legacy" ? "the default stream" : `stream ${hex(handle)}`;
}

/** A mark in a stream. */
export class StreamEvent {
  /** Context that the event belongs to. */
  readonly context: Context;
  /** Value that callers hold. */
  readonly handle: bigint;
  /** Flags it was made with. */
  readonly flags: number;
  /** The mark; undefined until the event is recorded, and when that was in a capture. */
  record: Operation | undefined;
  /** The mark when the event was last recorded in a capture. */
  mark: CapturedMark | undefined;

  /** Makes an event that was never recorded. */
  constructor(context: Context, handle: bigint, flags: number) {
    this.context = context;
    this.handle = handle;
    this.flags = flags;
  }

  /** Throws when the mark is a part of a capture, for which the host cannot wait. */
  requireAwaitable(): void {
    const { mark } = this;
    if (mark === undefined) return;
    if (mark.capture.isValid) mark.capture.invalidate("CUDA_ERROR_CAPTURED_EVENT");
    refuse("CUDA_ERROR_INVALID_VALUE");
  }
}
