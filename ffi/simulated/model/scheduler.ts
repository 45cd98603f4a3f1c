// Runs queued operations when, and only when, something asks for them.
// Order comes from streams, events and the default stream; time is virtual.

import type { CallSite } from "../errors.ts";
import { SUBMIT_SECONDS } from "./device.ts";
import { type Moment, observe } from "./happens_before.ts";
import type { OpenCaptures } from "./capture.ts";
import type { OutsideMark } from "./shared_mark.ts";
import { Operation, type Stream, type Work } from "./stream.ts";

/** From this length on a queue's caller waits for its oldest operation, as in the driver. */
const QUEUE_LENGTH = 1024;

/** The words of an error about a wait that nothing can end. */
const GONE =
  "nobody else will pass the event: the process that recorded it has ended, or is this one";

const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

/** Holds the queues of all streams of a machine. */
export class Scheduler {
  #site: CallSite;
  #captures: OpenCaptures;
  #nowSeconds = 0;
  /** Streams with work; in the order in which they got it. */
  #busy = new Set<Stream>();

  constructor(site: CallSite, captures: OpenCaptures) {
    this.#site = site;
    this.#captures = captures;
  }

  /** Number of operations that have not run. */
  get queuedCount(): number {
    let count = 0;
    for (const { operations } of this.#busy) count += operations.length;
    return count;
  }

  /** Takes a stream's next place in the order, after what the default stream's rules demand. */
  nextMoment(stream: Stream): Moment {
    this.#captures.requireUncaptured(stream);
    this.#captures.requireNoneBefore(stream);
    for (const other of stream.predecessors) stream.timeline.join(other.timeline.latest);
    return stream.timeline.advance();
  }

  /** Queues an operation that does nothing: a mark after the work of a stream so far. */
  mark(stream: Stream): Operation {
    return this.add(stream, {});
  }

  /** Makes the later work of a stream wait for an operation. */
  follow(stream: Stream, operation: Operation): Operation {
    stream.timeline.join(operation.moment);
    return this.add(stream, { after: [operation] });
  }

  /** Queues work that uses no memory, behind the stream's work so far. */
  add(stream: Stream, work: Work): Operation {
    return this.enqueue(stream, this.nextMoment(stream), work);
  }

  /** Queues work at a place taken with `nextMoment()`. */
  enqueue(stream: Stream, moment: Moment, work: Work): Operation {
    const after = [...work.after ?? []];
    for (const { tail } of stream.predecessors) if (tail !== undefined) after.push(tail);
    this.#nowSeconds += SUBMIT_SECONDS;
    const operation = new Operation(stream, {
      call: this.#site.name,
      moment,
      queuedAtSeconds: this.#nowSeconds,
      work: { ...work, after },
    });
    stream.operations.push(operation);
    this.#busy.add(stream);
    if (stream.operations.length > QUEUE_LENGTH) this.#advance(operation);
    return operation;
  }

  /** Runs an operation after the work that it needs; then the host has waited for it. */
  finish(operation: Operation): void {
    while (!operation.isDone) {
      if (this.#advance(operation) || this.#advanceAny()) continue;
      if (nextFor(operation).work?.outside?.needsEventLoop === true) this.#reportBlocked(operation);
      if (this.waitsOutside(operation)) pause();
      else this.#reportDeadlock(operation);
    }
    this.#observe(operation);
  }

  /** Makes the later work of a stream wait for a mark of another process. */
  followOutside(stream: Stream, outside: OutsideMark): Operation {
    const blocked = () => outside.isPassed ? undefined : "another process has not passed the event";
    return this.add(stream, { blocked, outside });
  }

  /** Runs what an operation needs, as far as that can run now, and then the operation. */
  proceed(operation: Operation): void {
    while (!operation.isDone && this.#advance(operation));
  }

  /** Tells whether an operation waits for another process, which can still do its part. */
  waitsOutside(operation: Operation): boolean {
    if (operation.isDone) return false;
    const { outside } = nextFor(operation).work ?? {};
    return outside !== undefined && (outside.isPassed || outside.isComing);
  }

  finishOutside(outside: OutsideMark): void {
    while (!outside.isPassed) {
      if (!outside.isComing) this.#site.fail("deadlock", GONE);
      pause();
    }
  }

  /** Runs at most one operation that the given one needs; tells whether the given one is done. */
  poll(operation: Operation): boolean {
    if (!operation.isDone) this.#advance(operation);
    if (operation.isDone) this.#observe(operation);
    return operation.isDone;
  }

  drain(stream: Stream): void {
    const tail = stream.tail;
    if (tail !== undefined) this.finish(tail);
    observe(stream.timeline.latest);
  }

  /** Runs all queued work, up to operations that wait for a word with another value. */
  runAll(): void {
    while (this.#advanceAny());
  }

  /** Tells why an operation cannot run now and nothing else could change that. */
  deadlock(operation: Operation): string | undefined {
    if (operation.isDone) return undefined;
    const next = nextFor(operation);
    const reason = next.work?.blocked?.();
    if (reason === undefined) return undefined;
    const canProgress = [...this.#busy].some((stream) => this.#runnable(stream) !== undefined);
    return canProgress ? undefined : reason;
  }

  /** Tells whether what blocks an operation may end by itself. */
  mayWake(operation: Operation): boolean {
    return !operation.isDone && nextFor(operation).work?.mayWake === true;
  }

  #observe(operation: Operation): void {
    observe(operation.moment);
    this.#nowSeconds = Math.max(this.#nowSeconds, operation.finishedAtSeconds);
  }

  #reportBlocked(operation: Operation): never {
    const reason = nextFor(operation).work?.blocked?.() ?? "of another process";
    return this.#site.fail(
      "blockedForProcess",
      `${operation.stream.timeline.label} waits because ${reason}, which this process learns of in its ` +
        `event loop only; await the work instead of blocking for it`,
    );
  }

  #reportDeadlock(operation: Operation): never {
    const reason = nextFor(operation).work?.blocked?.() ?? "of a cycle";
    return this.#site.fail(
      "deadlock",
      `deadlock, ${operation.stream.timeline.label} waits for ever because ${reason} and nothing that is queued changes it`,
    );
  }

  #advance(operation: Operation): boolean {
    const next = nextFor(operation);
    if (next.work?.blocked?.() !== undefined) return false;
    this.#run(next);
    return true;
  }

  #advanceAny(): boolean {
    for (const stream of this.#busy) {
      const next = this.#runnable(stream);
      if (next === undefined) continue;
      this.#run(next);
      return true;
    }
    return false;
  }

  #runnable(stream: Stream): Operation | undefined {
    if (stream.head === undefined) return undefined;
    const next = nextFor(stream.head);
    return next.work?.blocked?.() === undefined ? next : undefined;
  }

  #run(operation: Operation): void {
    const { stream, work } = operation;
    if (work === undefined) return;
    // A latch opens when the host opens it, so what waits for one starts now at the earliest.
    const releasedAt = work.blocked === undefined ? operation.queuedAtSeconds : this.#nowSeconds;
    const start = Math.max(
      stream.atSeconds,
      releasedAt,
      work.engine?.freeAtSeconds ?? 0,
      ...(work.after ?? []).map((other) => other.finishedAtSeconds),
    );
    operation.finishedAtSeconds = stream.atSeconds = start + (work.seconds ?? 0);
    if (work.engine !== undefined) work.engine.freeAtSeconds = operation.finishedAtSeconds;
    // Done before it runs: an operation that fails must not fail again on every later wait.
    operation.work = undefined;
    stream.operations.shift();
    if (stream.head === undefined) {
      this.#busy.delete(stream);
      // The default stream follows the blocking ones: those stay until the host has waited.
      if (stream.isDestroyed && stream.role === "nonblocking") stream.group.delete(stream);
    }
    this.#site.during(operation.call, () => work.run?.());
  }
}

/** Lets other processes go on for a moment. */
function pause(): void {
  Atomics.wait(SLEEPER, 0, 0, 1);
}

/** Finds the operation to run first so that the given one can run. */
function nextFor(operation: Operation): Operation {
  let next = operation.stream.head ?? operation;
  for (;;) {
    const needed = next.work?.after?.find((other) => !other.isDone);
    if (needed === undefined) return next;
    next = needed.stream.head ?? needed;
  }
}
