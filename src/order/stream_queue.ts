// The internal part of a stream, by which calls are kept in order: its handle for calls whose turn has
// come, the work that is not over, and a mark at the end of its queue for other streams to wait for.

import { CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUresult } from "../../ffi/constants.ts";
import type { Context } from "../driver/context.ts";
import type { FreeingStream } from "../driver/freed_memory.ts";
import { succeeds } from "../driver/release.ts";
import { CudaError, DisposedError } from "../words/errors.ts";
import { type CapturedQueue, isCaptured, requireUncaptured } from "./capture.ts";
import { Fence } from "./fence.ts";
import type { HandleRecord } from "./handle_record.ts";
import { finishNow, type PendingWork, PostponedCall } from "./pending_work.ts";
import { isSoon, waitForGpu, waitForStream } from "./waiting.ts";

/** Handles that stand for another stream in each context, or on each thread. */
const DEFAULT_HANDLES: readonly bigint[] = [CU_STREAM_LEGACY, CU_STREAM_PER_THREAD].map(BigInt);

/** The driver writes the current context here. */
const CURRENT = new BigUint64Array(1);

/** Freed memory that takes the driver half a millisecond and more to give back: another thread waits. */
const MIN_LARGE_BYTES = 256 * 2 ** 20;

/** Pending work of all streams of a context. */
const pendingOn = new WeakMap<Context, Set<PendingWork>>();

/** Blocks until all transfers of a device are over and the calls after them are queued. */
export function finishPending(context: Context, action: string): void {
  const pending = pendingOn.get(context);
  if (pending !== undefined && pending.size > 0) finishNow(pending, action);
}

/** The error of a postponed call, which nobody has awaited: the program is told it once. */
export class CallFailure {
  /** The failure that threw last. */
  static #last: CallFailure | undefined;
  readonly #error: unknown;
  #isTold = false;

  constructor(error: unknown) {
    this.#error = error;
  }

  /** Returns the failure with an error: an earlier one, if that was told to a postponed call. */
  static of(error: unknown): CallFailure {
    const last = CallFailure.#last;
    if (last === undefined || last.#error !== error) return new CallFailure(error);
    last.#isTold = false;
    return last;
  }

  get isTold(): boolean {
    return this.#isTold;
  }

  /** Throws the error, unless the program was told. */
  tell(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    CallFailure.#last = this;
    throw this.#error;
  }
}

/** The queue of a stream, as the kit sees it: users hold the stream. */
export class StreamQueue implements CapturedQueue, FreeingStream {
  readonly context: Context;
  /** The handle as an identity, also after disposal; never queue work with it. */
  readonly key: bigint;
  /** Transfers that are not over, and the calls that come after them. */
  readonly pending: Set<PendingWork> = new Set();
  readonly #transfers = new Set<PendingWork>();
  /** The owner record; undefined for the streams of the context, which live as long as it does. */
  readonly #record: HandleRecord | undefined;
  /** The handle means this stream only while its context is current, on this thread. */
  readonly #isDefaultHandle: boolean;
  #mayBeBusy = true;
  /** Bytes freed on it so far, of which pools have noticed some. */
  #totalFreedBytes = 0;
  #noticedBytes = 0;
  /** Work to do once pools have noticed the frees. */
  #afterFrees: (() => void)[] = [];
  /** Threads that block until its work is done. */
  #waitingThreads = 0;
  /** The last postponed call, which every later call here comes after, whatever it uses. */
  lastPostponed: PendingWork | undefined;
  #failure: CallFailure | undefined;
  /** A mark at the end of the queue, for other streams to wait for; made when first needed. */
  #end: Fence | undefined;
  /** Another library queues work from a thread of its own. */
  #isLent = false;
  /** Ends a capture that the driver could not end. */
  #endCapture: (() => void) | undefined;
  /** Something comes before each use of the handle. */
  #needsEntry: boolean;

  constructor(
    { context, handle, record }: {
      readonly context: Context;
      readonly handle: bigint;
      readonly record: HandleRecord | undefined;
    },
  ) {
    this.context = context;
    this.key = handle;
    this.#record = record;
    this.#isDefaultHandle = DEFAULT_HANDLES.includes(handle);
    this.#needsEntry = this.#isDefaultHandle;
  }

  /**
   * The driver's handle, for calls whose turn has come.
   *
   * @throws DisposedError when the driver's stream is destroyed.
   * @throws CudaError when the driver still cannot end a capture of the stream.
   */
  get handle(): bigint {
    if (this.isGone) throw new DisposedError(this.toString());
    this.#mayBeBusy = true;
    if (this.#needsEntry) this.#enter();
    return this.key;
  }

  /** The stream's label, or its number; `"default"` for the default stream. */
  get name(): string {
    return this.#record?.name ?? (this.#isDefaultHandle ? "legacy default" : "default");
  }

  /** Tells whether the driver's stream is destroyed: postponed calls keep it for a while. */
  get isGone(): boolean {
    return this.#record?.isDestroyed ?? this.context.released;
  }

  /** Tells whether the stream is gone and its work is known to be done, so that nothing needs to wait. */
  get isOver(): boolean {
    return this.isGone && this.#end === undefined;
  }

  /** Tells whether another library queues work on it, so that nothing else may be queued. */
  get isLent(): boolean {
    return this.#isLent;
  }

  /** Tells whether the GPU has passed the mark at its end; while it is lent, all work before. */
  get isEndPassed(): boolean {
    return this.#end?.isPassed ?? true;
  }

  /** Tells whether it was seen idle and nothing was queued since. Makes no driver call. */
  get isKnownIdle(): boolean {
    return !this.#mayBeBusy;
  }

  /** Tells whether all work that the driver was given is done (cuStreamQuery). */
  get isIdle(): boolean {
    const { driver, isCapturing } = this.context;
    if (isCapturing) requireUncaptured(this, "look for the end of the work");
    const status = driver.api.cuStreamQuery(this.handle);
    if (status === CUresult.CUDA_ERROR_NOT_READY) return false;
    if (status !== CUresult.CUDA_SUCCESS) throw driver.error(status, "cuStreamQuery");
    this.#mayBeBusy = false;
    return true;
  }

  /** Tells whether all work that the driver was given is done, also when the stream is gone. */
  get isPassed(): boolean {
    return this.isGone ? this.isEndPassed : !this.#mayBeBusy || this.isIdle;
  }

  /** The work after which nothing is pending: the transfers, and the last postponed call. */
  get pendingEnds(): PendingWork[] {
    const transfers = this.#transfers.size === 0 ? [] : [...this.#transfers];
    return this.lastPostponed === undefined ? transfers : [...transfers, this.lastPostponed];
  }

  /**
   * Makes a call once `earlier` is over. An error that it throws is thrown again by the next call that
   * waits for the stream, or for an event behind it, and is given to `onFailure`. If a capture runs at
   * that time, the call waits for its end, so that it is not recorded.
   */
  postpone(
    call: () => void,
    earlier: Iterable<PendingWork>,
    onFailure?: (failure: CallFailure) => void,
  ): PendingWork {
    const work = new PostponedCall(() => {
      try {
        call();
      } catch (error) {
        const failure = CallFailure.of(error);
        this.inherit(failure);
        onFailure?.(failure);
      }
    }, earlier);
    this.lastPostponed = work;
    this.notePending(work);
    return work;
  }

  /** Registers pending work, and keeps the driver's stream until that work is over. */
  notePending(work: PendingWork): void {
    const hold = this.#record?.hold() ?? this.#holdContext();
    const onContext = pendingOn.getOrInsertComputed(this.context, () => new Set()).add(work);
    this.pending.add(work);
    if (!work.isPostponed) this.#transfers.add(work);
    work.whenOver(() => {
      onContext.delete(work);
      this.pending.delete(work);
      this.#transfers.delete(work);
      if (this.lastPostponed === work) this.lastPostponed = undefined;
      hold[Symbol.dispose]();
    });
  }

  /** The first failure of a postponed call since the program was last told of one. */
  get failure(): CallFailure | undefined {
    return this.#failure?.isTold === true ? undefined : this.#failure;
  }

  /** Takes over a failure of another stream, whose results later work uses; the first is told. */
  inherit(failure: CallFailure | undefined): void {
    if (failure !== undefined && this.failure === undefined) this.#failure = failure;
  }

  /**
   * Throws the error of a postponed call, once: called when the program waits for the stream, or
   * reads memory that the call was to write.
   */
  throwFailure(): void {
    this.#failure?.tell();
  }

  /**
   * Makes all later work wait for all work that another queue was given so far. When that one is being
   * captured, only the work from before the capture counts. For a queue of another driver, to which
   * these handles mean nothing, the host waits.
   */
  follow(target: StreamQueue): void {
    const { handle } = this;
    if (target === this) return;
    const end = target.#markEnd();
    if (target.context.driver === this.context.driver) end?.hold(handle);
    else end?.waitSync();
  }

  /**
   * Records the mark that {@link StreamQueue.follow} needs while this stream is being captured.
   *
   * @throws TypeError while a thread waits for the stream, which would break the capture.
   */
  prepareCapture(): void {
    if (this.#waitingThreads > 0) {
      throw new TypeError(`Cannot capture ${this}: a promise waits for its work, await that first`);
    }
    this.#markEnd();
  }

  /**
   * Lends the queue to another library, which puts work on it from a thread of its own. Until the
   * returned object is disposed, streams that follow this one wait for the work before.
   */
  lend(): Disposable {
    this.#markEnd();
    this.#isLent = true;
    return { [Symbol.dispose]: () => void (this.#isLent = false) };
  }

  /** Bytes freed on it that pools have not given back. */
  get freedBytes(): number {
    return this.#totalFreedBytes - this.#noticedBytes;
  }

  /** Notes that a free was queued on it. */
  noteFreed(byteLength: number): void {
    const { freed } = this.context;
    if (this.freedBytes === 0) {
      freed.streams.add(this);
      this.context.watchFreed();
    }
    this.#totalFreedBytes += byteLength;
    freed.byteLength += byteLength;
  }

  /** Runs an action, which never throws, once pools have noticed the frees on it; there are some. */
  afterFrees(action: () => void): void {
    this.#afterFrees.push(action);
    this.context.freed.awaitedCount++;
  }

  /** Has pools notice the frees on it, if its work is done (cuStreamSynchronize). */
  noticeFrees(): void {
    const { driver } = this.context;
    if (this.isGone) return this.isEndPassed ? this.waitForFrees() : undefined;
    if (isCaptured(this) || this.#isLent || !this.isIdle) return;
    driver.check(driver.api.cuStreamSynchronize(this.handle), "cuStreamSynchronize");
    this.#mayBeBusy = false;
    this.forgetFrees();
  }

  /** Blocks until its work is done, and has pools notice the frees on it. */
  waitForFrees(): void {
    const { driver } = this.context;
    if (this.isGone) this.#end?.waitSync();
    else driver.check(driver.api.cuStreamSynchronize(this.handle), "cuStreamSynchronize");
    this.forgetFrees();
  }

  /** Takes note that pools have noticed the frees on it: all, or those before a wait began. */
  forgetFrees(totalBytes: number = this.#totalFreedBytes): void {
    const { freed } = this.context;
    freed.byteLength -= Math.max(0, totalBytes - this.#noticedBytes);
    this.#noticedBytes = Math.max(this.#noticedBytes, totalBytes);
    if (this.freedBytes > 0) return;
    freed.streams.delete(this);
    freed.awaitedCount -= this.#afterFrees.length;
    for (const after of this.#afterFrees.splice(0)) after();
  }

  /** Resolves when all work that the driver was given so far is done. */
  async synchronize(): Promise<void> {
    if (!isSoon(() => this.isIdle)) {
      await waitForGpu(() => this.isIdle, () => this.#waitElsewhere());
    } else if (this.freedBytes >= MIN_LARGE_BYTES) await this.#waitElsewhere();
    this.context.endWait();
    await this.context.returning;
  }

  /** Blocks until all work that the driver was given so far is done (cuStreamSynchronize). */
  synchronizeSync(): void {
    const { context } = this;
    if (context.isCapturing) requireUncaptured(this, "look for the end of the work");
    if (waitForStream(context.driver, this.handle)) this.forgetFrees();
    this.#mayBeBusy = false;
    context.endWait();
  }

  /** Blocks until the work that it was given is done, also when the stream is gone. */
  finishSync(): void {
    if (this.isGone) this.#end?.waitSync();
    else if (this.#mayBeBusy) this.synchronizeSync();
  }

  /**
   * Records the end mark while work is still queued, so that other streams can be ordered after it
   * when the driver's stream is gone. Waits for the work when the driver cannot record it.
   */
  leaveMark(): void {
    if (this.#needsEntry) this.#enter();
    let isIdle = false;
    try {
      isIdle = this.context.driver.status("cuStreamQuery", this.key) === CUresult.CUDA_SUCCESS;
    } finally {
      if (isIdle) this.dropEnd();
      else this.#keepEnd();
    }
  }

  #keepEnd(): void {
    const { context } = this;
    let end: Fence | undefined;
    try {
      end = this.#markEnd();
    } catch {
      this.dropEnd();
      context.driver.call("cuStreamSynchronize", this.key);
      return;
    }
    context.defer({
      isDue: () => end?.isPassed ?? true,
      wait: () => end?.waitSync(),
      hold: (streamHandle) => end?.hold(streamHandle),
      run: () => this.dropEnd(),
    });
  }

  /** Destroys the mark at the end of the queue; pools learn of the frees before it. */
  dropEnd(): void {
    if (this.freedBytes > 0) succeeds(() => this.#end?.waitSync());
    this.forgetFrees();
    this.#end?.dispose();
    this.#end = undefined;
  }

  toString(): string {
    return `CudaStream(${this.name})`;
  }

  stayCaptured(end: () => void): void {
    this.#mayBeBusy = true;
    this.#needsEntry = true;
    this.#endCapture = () => {
      try {
        end();
      } catch (error) {
        if (!(error instanceof CudaError)) throw error;
        const { code, call, message } = error;
        const words =
          `Cannot use ${this}: its capture, which failed, could not be ended; ${message}`;
        throw new CudaError(words, { code, call, cause: error });
      }
    };
  }

  /**
   * Ends a capture that the driver could not end before. Makes the context current where the handle
   * means this stream only then; it stays current: what is called with the handle next is a call of its
   * own.
   */
  #enter(): void {
    this.#endCapture?.();
    this.#endCapture = undefined;
    this.#needsEntry = this.#isDefaultHandle;
    if (!this.#isDefaultHandle) return;
    const { context } = this;
    const { driver } = context;
    driver.call("cuCtxGetCurrent", CURRENT);
    if (CURRENT[0] !== context.handle) driver.call("cuCtxSetCurrent", context.handle);
  }

  async #waitElsewhere(): Promise<void> {
    const { driver } = this.context;
    if (this.#isDefaultHandle) return await this.#waitForFence();
    const totalBytes = this.#totalFreedBytes;
    this.#waitingThreads++;
    let status: number;
    try {
      status = await driver.api.cuStreamSynchronizeNonblocking(this.handle);
    } finally {
      this.#waitingThreads--;
    }
    if (status !== CUresult.CUDA_SUCCESS) throw driver.error(status, "cuStreamSynchronize");
    this.forgetFrees(totalBytes);
  }

  /** Waits by an event: on another thread the handle would mean another stream, or none. */
  async #waitForFence(): Promise<void> {
    const fence = Fence.behind(this.context, this.handle);
    this.#waitingThreads++;
    try {
      await fence.waitElsewhere();
    } finally {
      this.#waitingThreads--;
      fence.dispose();
    }
  }

  #holdContext(): Disposable {
    const context = this.context.retain();
    return { [Symbol.dispose]: () => context.release() };
  }

  /** Moves the end mark to the end of the queue, unless the stream is gone, captured or lent. */
  #markEnd(): Fence | undefined {
    if (this.isGone || this.#isLent || isCaptured(this)) return this.#end;
    if (this.#needsEntry) this.#enter();
    if (this.#end === undefined) this.#end = Fence.behind(this.context, this.key);
    else this.#end.set(this.key);
    return this.#end;
  }
}
