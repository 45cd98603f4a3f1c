// The communicators of one group: started together, called together, and ended together once the GPUs
// are done with their work. They never refer to the group itself.

import { ncclResult } from "../../ffi/nccl_constants.ts";
import type { Context } from "../driver/context.ts";
import { releaseAll, reportLost, tryRelease } from "../driver/release.ts";
import { orderedAfter, whenPassed } from "../memory/when_passed.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import type { Ranks } from "./collectives.ts";
import type { GroupError } from "./group_error.ts";
import type { GroupLink } from "./group_link.ts";
import type { Nccl, NcclFailure } from "./nccl.ts";
import type { CallInProgress } from "./queued_call.ts";

/** Bytes of an array that V8 never moves: smaller arrays may move while NCCL writes to them. */
export const FIXED_BYTES = 128;

/** The call that tells a communicator's state, for errors. */
export const ASK = "ncclCommGetAsyncError";

/** From this many streams on, streams that are gone are removed first. */
const MANY = 16;

/** The communicators of this process's ranks, in the form that groups use. */
export interface RankCommunicators extends Ranks {
  readonly nccl: Nccl;
  /** The failure that they were aborted for; undefined without one. */
  readonly failure: GroupError | undefined;
  /** Streams whose queued work may use them. */
  readonly streams: readonly CudaStream[];
  /**
   * Makes calls of this process's ranks as one NCCL group, on the given streams. If NCCL goes on
   * queueing them, returns an object that tells when it is done: until then no other call may be made,
   * and the streams must not be used.
   *
   * @throws GroupError when NCCL fails; the communicators are aborted then.
   */
  call(
    streams: readonly CudaStream[],
    body: (handles: readonly bigint[]) => NcclFailure | undefined,
  ): CallInProgress | undefined;
  /**
   * Returns the failure that a communicator has met since its last call; undefined without one. For a
   * caller that waits for work, a rank that has left and will not do its part is a failure too.
   */
  findFailure(asker: { readonly isWaiting: boolean }): NcclFailure | undefined;
  /** Tells the other processes, if there are any, that this one has come to a barrier. */
  arrive?(): void;
  /** Ranks of other processes that have not come to the barrier that this one waits at. */
  readonly absent?: readonly number[];
  /** Describes the ranks of other processes that may be why work of this one is late; empty when unknown. */
  describeLate?(): string;
  /** The connections to other processes, whose unread messages may say that the group has failed. */
  readonly link?: GroupLink;
  /** Ends all communicators because of a failure; resolves when they are gone. */
  fail(failure: GroupError): Promise<void>;
  /** Ends them once the GPUs are done with the work queued so far; does not wait. */
  end(): void;
  /** Resolves when they are gone, after `end()`; left out where all that can be released then is gone. */
  over?(): Promise<void>;
}

/** A communicator for each device of a group, by rank. */
export class Communicators implements RankCommunicators {
  /** The contexts of the devices, by rank. */
  readonly contexts: readonly Context[];
  readonly nccl: Nccl;
  readonly firstRank = 0;
  readonly isSpread = false;
  readonly #handles: readonly bigint[];
  /** Streams whose queued work may use the communicators. */
  readonly #streams = new Set<CudaStream>();
  #isOpen = true;
  #failure: GroupError | undefined;

  private constructor(nccl: Nccl, contexts: readonly Context[], handles: readonly bigint[]) {
    this.nccl = nccl;
    this.contexts = contexts;
    this.#handles = handles;
    // The group's record retains the first one.
    for (const context of contexts.slice(1)) context.retain();
  }

  /** Starts a communicator on each device; blocks until all of them have found each other. */
  static start(nccl: Nccl, contexts: readonly Context[]): Communicators {
    const { length: size } = contexts;
    const ordinals = Int32Array.from(contexts, ({ ordinal }) => ordinal);
    const handles = new BigUint64Array(new ArrayBuffer(Math.max(size * 8, FIXED_BYTES)), 0, size);
    const call = "ncclCommInitAll";
    const status = first(contexts).enter(() => nccl.api[call](handles, size, ordinals));
    const started = new Communicators(nccl, contexts, [...handles]);
    const failure = isFailure(status) ? { status, call } : started.#find({ waits: true });
    if (failure === undefined) return started;
    const error = nccl.error(failure);
    void started.fail(error);
    throw error;
  }

  get size(): number {
    return this.contexts.length;
  }

  get failure(): GroupError | undefined {
    return this.#failure;
  }

  get streams(): readonly CudaStream[] {
    return [...this.#streams];
  }

  /** @throws CudaError when the GPU has failed for good: earlier copies may not have run. */
  call(
    streams: readonly CudaStream[],
    body: (handles: readonly bigint[]) => NcclFailure | undefined,
  ): undefined {
    first(this.contexts).driver.requireUnbroken();
    noteStreams(this.#streams, streams);
    const { nccl } = this;
    const failure = first(this.contexts).enter(() => {
      const { failure, isInProgress } = inGroup(nccl, () => body(this.#handles));
      return isInProgress ? this.#find({ waits: true }) : failure;
    });
    if (failure === undefined) return;
    const error = nccl.error(failure);
    void this.fail(error);
    throw error;
  }

  findFailure(): NcclFailure | undefined {
    return this.#isOpen ? this.#find({ waits: false }) : undefined;
  }

  /**
   * Ends all communicators because of a failure: work that waits for another rank ends with incomplete
   * results. Resolves when they are gone; works on other threads, because NCCL waits for the streams
   * first.
   */
  async fail(failure: GroupError): Promise<void> {
    if (!this.#isOpen) return;
    this.#failure = failure;
    const kept = first(this.contexts).retain(); // the others are kept anyway
    const call = "ncclCommAbort";
    const { api } = this.nccl;
    const statuses = this.#close().map((handle) => api.ncclCommAbortNonblocking(handle));
    for (const status of await Promise.all(statuses)) {
      if (!isFailure(status)) continue;
      reportLost(kept.driver, "a communicator", this.nccl.error({ status, call }));
    }
    for (const context of this.contexts) context.release();
  }

  end(): void {
    if (!this.#isOpen) return;
    const kept = first(this.contexts).retain(); // the others are kept anyway
    const streams = [...this.#streams];
    let left = streams.length;
    const passed = () => {
      if (left-- > 0) return;
      if (this.#isOpen) this.#destroy();
      kept.release();
    };
    for (const stream of streams) whenPassed(orderedAfter(stream), passed);
    passed();
  }

  /** Destroys all communicators, whose work is done. */
  #destroy(): void {
    const handles = this.#close();
    const call = "ncclCommDestroy";
    const [context, ...others] = this.contexts;
    if (context === undefined) return;
    const destroys = handles.map((handle) => () => {
      const status = this.nccl.api.ncclCommDestroy(handle);
      if (isFailure(status)) throw this.nccl.error({ status, call });
    });
    const { driver } = context;
    tryRelease(
      driver,
      "a group",
      () =>
        context.enter(() => releaseAll(driver, "a communicator", destroys), { isNeeded: false }),
    );
    for (const other of others) other.release();
  }

  /** Marks all communicators as gone, and returns their handles. */
  #close(): bigint[] {
    this.#isOpen = false;
    this.#streams.clear();
    return this.#handles.filter((handle) => handle !== 0n);
  }

  /**
   * Returns the failure that a communicator has met. With `waits`, waits for communicators that are
   * still at work, as all can be with NCCL_COMM_BLOCKING=0 in the environment.
   */
  #find({ waits }: { readonly waits: boolean }): NcclFailure | undefined {
    const cell = new Int32Array(1);
    for (const [rank, communicator] of this.#handles.entries()) {
      let status = statusOf(this.nccl, communicator, cell);
      while (waits && status === ncclResult.ncclInProgress) {
        status = statusOf(this.nccl, communicator, cell);
      }
      if (isFailure(status)) return { status, call: ASK, communicator, rank };
    }
    return undefined;
  }
}

/** Asks NCCL for the state of a communicator; NCCL writes the answer to `cell`. */
export function statusOf(
  { api }: Nccl,
  communicator: bigint,
  cell: Int32Array<ArrayBuffer>,
): number {
  const asked = api.ncclCommGetAsyncError(communicator, cell);
  return isFailure(asked) ? asked : cell[0] ?? 0;
}

/** Adds streams whose queued work uses communicators. */
export function noteStreams(noted: Set<CudaStream>, streams: readonly CudaStream[]): void {
  for (const stream of streams) noted.add(stream);
  if (noted.size <= MANY) return;
  for (const stream of noted) if (queueOf(stream).isOver) noted.delete(stream);
}

/** Groups calls (ncclGroupStart); returns the first failure, and whether work goes on. */
export function inGroup(
  { api }: Nccl,
  body: () => NcclFailure | undefined,
): { readonly failure: NcclFailure | undefined; readonly isInProgress: boolean } {
  const begun = api.ncclGroupStart();
  if (isFailure(begun)) {
    return { failure: { status: begun, call: "ncclGroupStart" }, isInProgress: false };
  }
  let failure: NcclFailure | undefined;
  let ended = 0;
  try {
    failure = body();
  } finally {
    ended = api.ncclGroupEnd();
  }
  if (isFailure(ended)) failure ??= { status: ended, call: "ncclGroupEnd" };
  return { failure, isInProgress: failure === undefined && ended === ncclResult.ncclInProgress };
}

/** Returns whether a status is a failure; work in progress has not failed. */
export function isFailure(status: number): boolean {
  return status !== ncclResult.ncclSuccess && status !== ncclResult.ncclInProgress;
}

function first(contexts: readonly Context[]): Context {
  const [context] = contexts;
  if (context === undefined) throw new RangeError("Cannot make a group of no devices");
  return context;
}
