// An ordered queue of GPU work. Queueing never waits for the GPU; synchronize() does.
// Streams order themselves after each other by events, made only when two streams meet.

import { CUresult, CUstream_flags } from "../ffi/constants.ts";
import { activeCapture, isCaptured, requireUncaptured, waitsOutside } from "./capture.ts";
import type { Context } from "./context.ts";
import { take64 } from "./driver.ts";
import { DisposedError } from "./errors.ts";
import { CudaEvent, EVENT_OPTIONS, type EventOptions } from "./event.ts";
import { Fence } from "./fence.ts";
import { describeValue } from "./format.ts";
import { HandleRecord } from "./handle_record.ts";
import { oneOf, OptionSet, TEXT } from "./options.ts";
import { allOver, finishNow, type PendingWork, PostponedCall } from "./pending_work.ts";
import { priorityNumber, type StreamPriority } from "./stream_priority.ts";
import { isSoon, waitForGpu } from "./waiting.ts";

/** How to make a stream. */
export interface StreamOptions {
  /** How urgent its kernels are; `"normal"` by default. */
  readonly priority?: StreamPriority | undefined;
  /** A name for tables and errors. */
  readonly label?: string | undefined;
}

const STREAM_OPTIONS = new OptionSet<StreamOptions>({
  priority: oneOf("low", "normal", "high"),
  label: TEXT,
});

/** Looks of 0.2 microseconds each before a thread blocks: the end of brief work shows sooner so. */
const LOOKS = 48;

const defaultStreams = new WeakMap<Context, CudaStream>();

/** What is pending on all streams of a context. */
const pendingOn = new WeakMap<Context, Set<PendingWork>>();

/** Blocks until all transfers of a device are over, and what comes after them is queued. */
export function finishPending(context: Context, action: string): void {
  const pending = pendingOn.get(context);
  if (pending !== undefined && pending.size > 0) finishNow(pending, action);
}

/** A queue in which copies, fills and kernels run one after another. */
export class CudaStream implements Disposable {
  /** The context it belongs to. */
  readonly context: Context;
  /** How urgent its kernels are. */
  readonly priority: StreamPriority;
  readonly #handle: bigint;
  #mayBeBusy = true;
  /** Threads that block until its work is done. */
  #waitingThreads = 0;
  /** Undefined for the default stream, which lives as long as its context. */
  readonly #record: HandleRecord | undefined;
  /**
   * Transfers in the order of this stream that are not over, and calls that come after them.
   *
   * @internal
   */
  readonly pending: Set<PendingWork> = new Set();
  readonly #transfers = new Set<PendingWork>();
  /** The last call that was postponed: all that this stream is given later comes after it. */
  #lastPostponed: PendingWork | undefined;
  /** What the first postponed call failed with since somebody last waited. */
  #failure: { readonly error: unknown } | undefined;
  /** The end of the queue, for other streams to wait for; made when two streams first meet. */
  #end: Fence | undefined;

  private constructor(context: Context, handle: bigint, options: StreamOptions = {}) {
    this.context = context;
    this.priority = options.priority ?? "normal";
    this.#handle = handle;
    if (handle === context.defaultStreamHandle) return;
    const destroy = (handle: bigint) => context.giveBack("cuStreamDestroy_v2", handle);
    const { label } = options;
    this.#record = new HandleRecord(this, { context, kind: "stream", handle, label, destroy });
  }

  /** Creates a stream that does not block on the legacy stream (cuStreamCreateWithPriority). */
  static create(context: Context, options: StreamOptions = {}): CudaStream {
    STREAM_OPTIONS.read(options, "createStream");
    const priority = priorityNumber(context, options.priority ?? "normal");
    const flags = CUstream_flags.CU_STREAM_NON_BLOCKING;
    const handle = take64(context, "cuStreamCreateWithPriority", flags, priority);
    return new CudaStream(context, handle, options);
  }

  /** The stream that everything uses unless told otherwise. */
  static default(context: Context): CudaStream {
    const known = defaultStreams.get(context);
    if (known !== undefined) return known;
    const made = new CudaStream(context, context.defaultStreamHandle);
    context.atRelease(() => made.#dropEnd());
    defaultStreams.set(context, made);
    return made;
  }

  /**
   * The driver's handle, checked; whoever asks for it may queue work. So transfers that were called
   * before are finished first, which blocks while there are any.
   */
  get handle(): bigint {
    if (this.disposed) throw new DisposedError(this.toString());
    if (this.pending.size > 0) finishNow(this.pending, `use the handle of ${this}`);
    return this.queueHandle;
  }

  /**
   * The driver's handle for calls that have come to their turn.
   *
   * @internal
   */
  get queueHandle(): bigint {
    if (this.#isGone) throw new DisposedError(this.toString());
    this.#mayBeBusy = true;
    return this.#handle;
  }

  /** Tells streams apart in reports, also when disposed; never queue work with it. */
  get key(): bigint {
    return this.#handle;
  }

  /** Whether nothing can have been queued since the stream was last seen idle; asks nobody. */
  get isKnownIdle(): boolean {
    return !this.#mayBeBusy;
  }

  /** Its label, or its number; `"default"` for the default stream. */
  get name(): string {
    return this.#record?.name ?? "default";
  }

  /** Whether it was disposed; the default stream is when its device and all buffers are gone. */
  get disposed(): boolean {
    return this.#record?.released ?? this.context.released;
  }

  /** Whether it was disposed and its work is known to be done: nothing needs to wait for it. */
  get isOver(): boolean {
    return this.#isGone && this.#end === undefined;
  }

  /**
   * Whether all work so far is done, transfers that were called on it included (cuStreamQuery).
   * Throws what that work failed with.
   */
  get isIdle(): boolean {
    if (this.disposed) throw new DisposedError(this.toString());
    requireUncaptured(this, "look for the end of the work");
    if (this.pending.size > 0) return false;
    this.throwFailure();
    return this.isQueueIdle;
  }

  /**
   * Whether all that the driver was given is done (cuStreamQuery).
   *
   * @internal
   */
  get isQueueIdle(): boolean {
    const { driver } = this.context;
    requireUncaptured(this, "look for the end of the work");
    const status = driver.api.cuStreamQuery(this.queueHandle);
    if (status === CUresult.CUDA_ERROR_NOT_READY) return false;
    driver.check(status, "cuStreamQuery");
    this.#mayBeBusy = false;
    return true;
  }

  /**
   * Marks this point of the queue (cuEventRecord); does not wait. The mark comes after transfers that
   * were called on this stream before, awaited or not. The caller disposes the event.
   */
  record(options: EventOptions | CudaEvent = {}): CudaEvent {
    if (this.disposed) throw new DisposedError(this.toString());
    if (options instanceof CudaEvent) return this.#recordOn(options);
    const event = CudaEvent.create(this.context, EVENT_OPTIONS.read(options, "record"));
    try {
      return this.#recordOn(event);
    } catch (error) {
      event.dispose();
      throw error;
    }
  }

  #recordOn(event: CudaEvent): CudaEvent {
    this.#checkContext(event);
    if (event.disposed) throw new DisposedError(event.toString());
    const capture = activeCapture();
    event.capture = capture?.includes(this) ? capture : undefined;
    if (event.capture !== undefined) {
      this.#setMark(event);
      return event;
    }
    if (this.pending.size === 0 && event.pending.size === 0) this.#setMark(event);
    else {
      const earlier = [...this.pendingEnds, ...event.pending];
      event.notePending(this.postpone(() => this.#setMark(event), earlier), { isMark: true });
    }
    return event;
  }

  /**
   * Makes all later work of this stream wait for an event, or for all that another stream was given
   * so far, transfers included (cuStreamWaitEvent). Returns at once: the GPU waits, not the program. A
   * stream that waits for one that is being captured is captured too.
   *
   * @throws TypeError when this stream is being captured and the other's work is not.
   */
  wait(target: CudaEvent | CudaStream): void {
    if (this.disposed) throw new DisposedError(this.toString());
    if (target === this) return;
    if (!(target instanceof CudaEvent || target instanceof CudaStream)) {
      throw new TypeError(
        `Cannot wait for ${describeValue(target)}: expected an event or a stream`,
      );
    }
    if (target instanceof CudaEvent && target.disposed) throw new DisposedError(target.toString());
    const capture = activeCapture();
    const isRecorded = target instanceof CudaEvent ? target.isOf(capture) : isCaptured(target);
    if (capture !== undefined && isRecorded !== capture.includes(this)) {
      if (!isRecorded) throw waitsOutside(this, `${target}`);
      this.prepareCapture();
    }
    if (isRecorded) {
      if (target instanceof CudaStream) capture?.join(this, target);
      else {
        this.#waitForMark(target);
        capture?.add(this);
      }
      return;
    }
    const earlier = this.#lastPostponed === undefined
      ? [...target.pending]
      : [...target.pending, this.#lastPostponed];
    const wait = () =>
      target instanceof CudaEvent ? this.#waitForMark(target) : this.follow(target);
    if (earlier.length === 0) return wait();
    const work = this.postpone(wait, earlier);
    if (target instanceof CudaEvent) target.notePending(work, { isMark: false });
  }

  /**
   * Makes all later work wait for all that another stream has queued so far; of one that is being
   * captured that is what it was given before.
   *
   * @internal
   */
  follow(target: CudaStream): void {
    const { queueHandle } = this;
    if (target !== this) target.#markEnd()?.hold(queueHandle);
  }

  /**
   * What must be over so that all that is pending on this stream is: transfers, and the last call that
   * was postponed, which comes after all the others.
   *
   * @internal
   */
  get pendingEnds(): PendingWork[] {
    const transfers = this.#transfers.size === 0 ? [] : [...this.#transfers];
    return this.#lastPostponed === undefined ? transfers : [...transfers, this.#lastPostponed];
  }

  /**
   * What a call on this stream comes after, whatever memory it uses: the last that was postponed.
   *
   * @internal
   */
  get lastPostponed(): PendingWork | undefined {
    return this.#lastPostponed;
  }

  /**
   * Makes a call on this stream once `earlier` is over. What it throws is told to whoever waits for
   * the stream next; a capture that runs then must not record it, so it waits for the end of that.
   *
   * @internal
   */
  postpone(call: () => void, earlier: Iterable<PendingWork>): PendingWork {
    const work = new PostponedCall(() => {
      try {
        call();
      } catch (error) {
        this.#failure ??= { error };
      }
    }, earlier);
    this.#lastPostponed = work;
    this.notePending(work);
    return work;
  }

  /**
   * Throws what a postponed call failed with, once: to whoever waits for the stream, or reads what the
   * call was to write.
   *
   * @internal
   */
  throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
  }

  /**
   * Notes work in the order of this stream, and keeps the driver's stream until it is over.
   *
   * @internal
   */
  notePending(work: PendingWork): void {
    const hold = this.#record?.hold() ?? this.#holdContext();
    const onContext = pendingOn.get(this.context) ?? new Set();
    pendingOn.set(this.context, onContext.add(work));
    this.pending.add(work);
    if (!work.isPostponed) this.#transfers.add(work);
    work.whenOver(() => {
      onContext.delete(work);
      this.pending.delete(work);
      this.#transfers.delete(work);
      if (this.#lastPostponed === work) this.#lastPostponed = undefined;
      hold[Symbol.dispose]();
    });
  }

  /**
   * This stream, or where it was disposed the default one, behind the work that it has left.
   *
   * @internal
   */
  orDefault(): CudaStream {
    if (!this.disposed) return this;
    const stream = CudaStream.default(this.context);
    stream.follow(this);
    return stream;
  }

  /**
   * Leaves the mark that {@link CudaStream.follow} needs while the stream is being captured.
   *
   * @throws TypeError while a thread waits for the stream: that would break the capture.
   * @internal
   */
  prepareCapture(): void {
    if (this.#waitingThreads > 0) {
      throw new TypeError(`Cannot capture ${this}: a promise waits for its work, await that first`);
    }
    this.#markEnd();
  }

  /**
   * Resolves when all work so far is done, transfers that were called on it included; the event loop
   * goes on meanwhile. A transfer that failed says so by its own promise.
   */
  async synchronize(): Promise<void> {
    if (this.disposed) throw new DisposedError(this.toString());
    requireUncaptured(this, "look for the end of the work");
    if (this.pending.size > 0) await allOver(this.pendingEnds);
    await this.synchronizeQueue();
    this.context.sweep();
    if (!this.isKnownIdle && !this.#isGone) await this.synchronizeQueue(); // what was put off, too
    this.throwFailure();
  }

  /**
   * Resolves when all that the driver was given so far is done.
   *
   * @internal
   */
  async synchronizeQueue(): Promise<void> {
    if (isSoon(() => this.isQueueIdle)) return;
    await waitForGpu(() => this.isQueueIdle, async () => {
      const { driver } = this.context;
      this.#waitingThreads++;
      let status: number;
      try {
        status = await driver.api.cuStreamSynchronizeNonblocking(this.queueHandle);
      } finally {
        this.#waitingThreads--;
      }
      if (status !== CUresult.CUDA_SUCCESS) throw driver.error(status, "cuStreamSynchronize");
    });
  }

  /** Blocks until all work so far is done, transfers included (cuStreamSynchronize). */
  synchronizeSync(): void {
    if (this.disposed) throw new DisposedError(this.toString());
    requireUncaptured(this, "look for the end of the work");
    if (this.pending.size > 0) finishNow(this.pending, `wait for ${this}`);
    this.synchronizeQueueSync();
    this.context.sweep();
    if (!this.isKnownIdle) this.synchronizeQueueSync(); // what was put off, too
    this.throwFailure();
  }

  /**
   * Blocks until all that the driver was given so far is done.
   *
   * @internal
   */
  synchronizeQueueSync(): void {
    requireUncaptured(this, "look for the end of the work");
    const { driver } = this.context;
    const handle = this.queueHandle;
    let status: number = CUresult.CUDA_ERROR_NOT_READY;
    for (let look = 0; look < LOOKS && status === CUresult.CUDA_ERROR_NOT_READY; look++) {
      status = driver.api.cuStreamQuery(handle);
    }
    // A question that failed does not say that the work is over.
    if (status !== CUresult.CUDA_SUCCESS) {
      driver.check(driver.api.cuStreamSynchronize(handle), "cuStreamSynchronize");
    }
    this.#mayBeBusy = false;
  }

  /**
   * Gives the stream back; work queued on it still runs, and memory it uses stays until then.
   *
   * @throws TypeError for a device's default stream, which lives as long as the device, and while the
   *   stream is being captured.
   */
  dispose(): void {
    if (this.#record === undefined) {
      throw new TypeError("Cannot dispose a device's default stream: dispose the device");
    }
    if (this.#record.released) return;
    requireUncaptured(this, "call dispose()");
    this.#record.release(() => this.#leaveMark());
  }

  /** Same as {@link CudaStream.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Names the stream: `CudaStream(loader)`. */
  toString(): string {
    return `CudaStream(${this.name})`;
  }

  /** Shows the stream on a console. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this}${this.disposed ? " disposed" : ""}`;
  }

  /** Whether the driver's stream is gone: calls that were postponed keep it for a while. */
  get #isGone(): boolean {
    return this.#record?.isDestroyed ?? this.context.released;
  }

  #setMark(event: CudaEvent): void {
    this.context.driver.call("cuEventRecord", event.queueHandle, this.queueHandle);
  }

  #waitForMark(event: CudaEvent): void {
    this.context.driver.call("cuStreamWaitEvent", this.queueHandle, event.queueHandle, 0);
  }

  #holdContext(): Disposable {
    const context = this.context.retain();
    return { [Symbol.dispose]: () => context.release() };
  }

  /** Moves the end mark to the end of the queue; a destroyed or captured stream's stays where it is. */
  #markEnd(): Fence | undefined {
    if (this.#isGone || isCaptured(this)) return this.#end;
    if (this.#end === undefined) this.#end = Fence.behind(this.context, this.#handle);
    else this.#end.set(this.#handle);
    return this.#end;
  }

  /**
   * Leaves the end mark while work is still queued, so that others can be ordered after it. Where the
   * driver sets none the work is waited for.
   */
  #leaveMark(): void {
    const { context } = this;
    const { driver } = context;
    const status = driver.status("cuStreamQuery", this.#handle);
    if (status === CUresult.CUDA_SUCCESS) return this.#dropEnd();
    let end: Fence | undefined;
    try {
      end = this.#markEnd();
    } catch {
      this.#dropEnd();
      driver.call("cuStreamSynchronize", this.#handle);
      return;
    }
    context.defer({
      isDue: () => end?.isPassed ?? true,
      wait: () => end?.waitSync(),
      run: () => this.#dropEnd(),
    });
  }

  #dropEnd(): void {
    this.#end?.dispose();
    this.#end = undefined;
  }

  #checkContext(event: CudaEvent): void {
    if (event.context === this.context) return;
    throw new TypeError(
      `Cannot record ${event} on ${this}: it belongs to device ${event.context.ordinal}, ` +
        `the stream to device ${this.context.ordinal}`,
    );
  }
}
