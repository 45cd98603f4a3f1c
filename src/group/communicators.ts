// The communicators of one group: started together, called together, and ended together once the GPUs
// are done with their work. They never refer to the group itself.

import { ncclResult } from "../../ffi/nccl_constants.ts";
import type { Context } from "../driver/context.ts";
import { releaseAll, reportLost, tryRelease } from "../driver/release.ts";
import { Fence } from "../order/fence.ts";
import { type CudaStream, queueOf, usableStream } from "../order/stream.ts";
import type { Ranks } from "./collectives.ts";
import type { GroupError } from "./group_error.ts";
import type { Nccl, NcclFailure } from "./nccl.ts";
import type { CallInProgress } from "./queued_call.ts";

/** Bytes of a place that V8 leaves where it is: smaller arrays may move while NCCL writes to them. */
export const FIXED_BYTES = 128;

/** The call that tells how a communicator is, for errors. */
export const ASK = "ncclCommGetAsyncError";

/** From so many streams on, those that are gone for good are forgotten first. */
const MANY = 16;

/** The communicators of this process's ranks, as groups use them. */
export interface RankCommunicators extends Ranks {
  /** NCCL. */
  readonly nccl: Nccl;
  /** The failure that they were aborted for; undefined without one. */
  readonly failure: GroupError | undefined;
  /** Streams whose queued work may use them. */
  readonly streams: readonly CudaStream[];
  /**
   * Makes calls of this process's ranks as one group of NCCL's, on the streams that are noted with it.
   * Returns what tells of their end where NCCL goes on queueing them: no other call may be made, and the
   * streams must not be used, until then.
   *
   * @throws GroupError when NCCL fails; the communicators are aborted then.
   */
  call(
    streams: readonly CudaStream[],
    body: (handles: readonly bigint[]) => NcclFailure | undefined,
  ): CallInProgress | undefined;
  /**
   * Returns the failure that a communicator has met since it was called; undefined without one. Who waits
   * for work learns of ranks as well that have left and will not do their part: the group fails then.
   */
  findFailure(asker: { readonly isWaiting: boolean }): NcclFailure | undefined;
  /** Says which ranks may be why work of this process is late; nothing where that is not known. */
  describeLate(): string;
  /** Whether words of other processes may still have to be read, which say that the group has failed. */
  readonly isDoubtful: boolean;
  /** Resolves when they are read. */
  confirm(): Promise<void>;
  /** Ends all for a failure; resolves when they are gone. */
  fail(failure: GroupError): Promise<void>;
  /** Ends them once the GPUs are done with the work queued so far; does not wait. */
  end(): void;
  /** Resolves when they are gone, after `end()`. */
  over(): Promise<void>;
}

/** A communicator for each device of a group, by rank. */
export class Communicators implements RankCommunicators {
  /** The contexts of the devices, by rank. */
  readonly contexts: readonly Context[];
  /** NCCL. */
  readonly nccl: Nccl;
  readonly firstRank = 0;
  readonly isSpread = false;
  readonly isDoubtful = false;
  readonly #handles: readonly bigint[];
  /** Streams whose queued work may use the communicators. */
  readonly #streams = new Set<CudaStream>();
  #isOpen = true;
  #failure: GroupError | undefined;

  /** Adopts communicators. */
  private constructor(nccl: Nccl, contexts: readonly Context[], handles: readonly bigint[]) {
    this.nccl = nccl;
    this.contexts = contexts;
    this.#handles = handles;
    // The first one is kept by the group's record.
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

  /** Number of ranks. */
  get size(): number {
    return this.contexts.length;
  }

  /** The failure that they were aborted for; undefined without one. */
  get failure(): GroupError | undefined {
    return this.#failure;
  }

  /** Streams whose queued work may use them. */
  get streams(): readonly CudaStream[] {
    return [...this.#streams];
  }

  /**
   * Makes calls of all ranks as one group of NCCL's, on the streams that are noted with it.
   *
   * @throws GroupError when NCCL fails; the communicators are aborted then.
   * @throws CudaError when the GPU has failed for good: copies that the work comes after may be left.
   */
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

  /** Returns the failure that a communicator has met since it was called; undefined without one. */
  findFailure(): NcclFailure | undefined {
    return this.#isOpen ? this.#find({ waits: false }) : undefined;
  }

  /**
   * Ends all communicators for a failure: work that waits for another rank ends, with what bytes it has.
   * Resolves when they are gone, on other threads, because NCCL waits for the streams first.
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

  /** Ends the communicators once the GPUs are done with the work queued so far; does not wait. */
  end(): void {
    if (!this.#isOpen) return;
    afterWork(this.contexts, this.#streams, () => {
      if (this.#isOpen) this.#destroy();
    });
  }

  /** Resolves at once: what can be given back at once has been. */
  over(): Promise<void> {
    return Promise.resolve();
  }

  /** Resolves at once: there are no other processes. */
  confirm(): Promise<void> {
    return Promise.resolve();
  }

  /** Says nothing: all ranks are of this process. */
  describeLate(): string {
    return "";
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

  /** Marks them as gone, and returns those that were there. */
  #close(): bigint[] {
    this.#isOpen = false;
    this.#streams.clear();
    return this.#handles.filter((handle) => handle !== 0n);
  }

  /**
   * Returns the failure that a communicator has met. Can wait while one is at work, as all are with
   * NCCL_COMM_BLOCKING=0 in the environment.
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

/** Asks NCCL how a communicator is; `cell` is a place for its answer. */
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

/** Does something once the GPUs are done with the work on streams: at once when they are. */
function afterWork(
  contexts: readonly Context[],
  streams: Iterable<CudaStream>,
  body: () => void,
): void {
  const { driver } = first(contexts);
  const fences: Fence[] = [];
  try {
    for (const stream of streams) {
      const { context, handle } = queueOf(usableStream(stream));
      fences.push(Fence.behind(context, handle));
    }
  } catch {
    // Without the driver's mark the host waits; a failure is told to whoever waits for the work.
    for (const context of contexts) tryRelease(driver, "a group", () => context.waitForAll());
  }
  const isDue = () => fences.every((fence) => fence.isPassed);
  const run = () => {
    for (const fence of fences) {
      if (!fence.isPassed) tryRelease(driver, "a group", () => fence.waitSync());
      fence.dispose();
    }
    body();
  };
  if (isDue()) return run();
  const wait = () => {
    for (const fence of fences) fence.waitSync();
  };
  const hold = (streamHandle: bigint) => {
    for (const fence of fences) fence.hold(streamHandle);
  };
  first(contexts).defer({ isDue, wait, hold, run });
}

/** Makes calls between ncclGroupStart and ncclGroupEnd; tells the first failure, and if work goes on. */
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

/** Returns whether a status tells of a failure; work that goes on has not failed. */
export function isFailure(status: number): boolean {
  return status !== ncclResult.ncclSuccess && status !== ncclResult.ncclInProgress;
}

function first(contexts: readonly Context[]): Context {
  const [context] = contexts;
  if (context === undefined) throw new RangeError("Cannot make a group of no devices");
  return context;
}
