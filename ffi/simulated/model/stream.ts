// Streams, and the operations that wait on them.
// An operation is done only when the scheduler has run it.

import { hex } from "../errors.ts";
import type { Context } from "./context.ts";
import type { Engine } from "./device.ts";
import { type Moment, Timeline } from "./happens_before.ts";
import type { OutsideMark } from "./shared_mark.ts";

/** The legacy default stream, a stream that is ordered with it, or one that ignores it. */
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
  /** The mark of another process that must be passed first. */
  outside?: OutsideMark | undefined;
  /** The obstacle may end by itself, so that a waiting thread continues to wait. */
  mayWake?: boolean;
  run?: () => void;
}

export class Operation {
  readonly stream: Stream;
  /** Driver function that queued it. */
  readonly call: string;
  readonly moment: Moment;
  /** Virtual time at which it was queued. */
  readonly queuedAtSeconds: number;
  work: Work | undefined;
  /** Virtual time at which it ended. */
  finishedAtSeconds = 0;

  constructor(
    stream: Stream,
    options: Pick<Operation, "call" | "moment" | "queuedAtSeconds"> & { readonly work: Work },
  ) {
    this.stream = stream;
    this.call = options.call;
    this.moment = options.moment;
    this.queuedAtSeconds = options.queuedAtSeconds;
    this.work = options.work;
  }

  get isDone(): boolean {
    return this.work === undefined;
  }
}

/** A queue of operations that run in order. */
export class Stream {
  readonly group: StreamGroup;
  readonly handle: bigint;
  /** Order against the legacy default stream. */
  readonly role: StreamRole;
  /** Order of the stream's operations against those of others. */
  readonly timeline: Timeline;
  /** The operations that have not run, oldest first. */
  readonly operations: Operation[] = [];
  /** Virtual time at which the last operation that ran has ended. */
  atSeconds = 0;
  /** It was destroyed, so that it accepts no more work. */
  isDestroyed = false;
  /** Threads beside the program's that wait for it. */
  waitingThreads = 0;

  /** Makes an empty stream; messages call it by its handle unless it has a name. */
  constructor(group: StreamGroup, handle: bigint, role: StreamRole, name = nameOf(handle, role)) {
    const { device, waits } = group.context;
    this.group = group;
    this.handle = handle;
    this.role = role;
    this.timeline = new Timeline(`${name} of device ${device.ordinal}`, waits);
  }

  get context(): Context {
    return this.group.context;
  }

  /** Returns the streams whose work so far comes before what this one is given next. */
  get predecessors(): Stream[] {
    if (this.role === "nonblocking") return [];
    if (this.role === "blocking") return [this.group.legacy];
    return [...this.group].filter(({ role }) => role === "blocking");
  }

  /** Returns the operation to run next. */
  get head(): Operation | undefined {
    return this.operations[0];
  }

  /** Returns the operation that was queued last, while it is not done. */
  get tail(): Operation | undefined {
    return this.operations.at(-1);
  }
}

/** The streams of a context, and destroyed ones until their work is done. */
export class StreamGroup extends Set<Stream> {
  readonly context: Context;
  /** The default stream, which waits for all blocking streams and they for it. */
  readonly legacy: Stream;
  readonly thread: Stream;

  constructor(context: Context) {
    super();
    this.context = context;
    this.legacy = new Stream(this, 1n, "legacy");
    this.thread = new Stream(this, 2n, "blocking");
    this.clear();
  }

  /** Drops all streams but the default ones. */
  override clear(): void {
    super.clear();
    this.add(this.legacy).add(this.thread);
  }
}

function nameOf(handle: bigint, role: StreamRole): string {
  return role === "legacy" ? "the default stream" : `stream ${hex(handle)}`;
}
