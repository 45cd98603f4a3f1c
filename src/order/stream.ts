// An ordered queue of GPU work. Queueing never waits for the GPU; synchronize() does. Events order
// streams after each other, and are created only when two streams use the same memory.

import {
  CU_STREAM_LEGACY,
  CU_STREAM_PER_THREAD,
  CUresult,
  CUstream_flags,
} from "../../ffi/constants.ts";
import { Context } from "../driver/context.ts";
import { take64 } from "../driver/driver.ts";
import { DisposedError } from "../words/errors.ts";
import { describeValue } from "../words/format.ts";
import { ANYTHING, isRecord, oneOf, OptionSet, TEXT } from "../words/options.ts";
import { Parts, partsOf } from "../words/parts.ts";
import { activeCapture, isCaptured, requireUncaptured, waitsOutside } from "./capture.ts";
import { createEvent, CudaEvent, EVENT_OPTIONS, type EventOptions } from "./event.ts";
import { Fence } from "./fence.ts";
import { HandleRecord } from "./handle_record.ts";
import { allOver, finishNow, type PendingWork, PostponedCall } from "./pending_work.ts";
import { isSoon, waitForGpu } from "./waiting.ts";

/** Priority of a stream's kernels; copies are not reordered by it. */
export type StreamPriority = "low" | "normal" | "high";

/** Options for {@link CudaDevice.createStream}. */
export interface StreamOptions {
  /** Priority of the stream's kernels; `"normal"` by default. */
  readonly priority?: StreamPriority | undefined;
  /** Name shown in tables and errors. */
  readonly label?: string | undefined;
}

/** The parts of a stream. */
interface StreamFields extends StreamOptions {
  readonly context: Context;
  readonly handle: bigint;
  /** Gives the stream back; by default it is destroyed. */
  readonly destroy?: (() => void) | undefined;
  /** Whether it lives as long as its context, and is nobody's to dispose. */
  readonly isOfContext?: boolean;
}

const STREAM_OPTIONS = new OptionSet<StreamOptions>({
  priority: oneOf("low", "normal", "high"),
  label: TEXT,
});

/** A stream of another library's that tells its handle as NVIDIA's libraries for Python do. */
export interface ForeignStream {
  /** Returns the version of this protocol, which is 0, and the handle. */
  __cuda_stream__(): readonly [version: number, handle: number | bigint];
}

/** Options for {@link CudaStream.fromHandle}. */
export interface ForeignStreamOptions {
  /** Device that the stream belongs to. */
  readonly gpu: { readonly context: Context };
  /** Object that destroys the stream; kept alive until this program is done with the stream. */
  readonly owner?: unknown;
  /** Name shown in tables and errors. */
  readonly label?: string | undefined;
}

const FOREIGN_STREAM_OPTIONS = new OptionSet<ForeignStreamOptions>({
  gpu: {
    expected: "a device, such as CudaDevice.open()",
    accepts: (value) => (value as { context?: unknown } | null)?.context instanceof Context,
  },
  owner: ANYTHING,
  label: TEXT,
});

/** Handles that stand for another stream in each context, or on each thread. */
const DEFAULT_HANDLES: readonly bigint[] = [CU_STREAM_LEGACY, CU_STREAM_PER_THREAD].map(BigInt);

/**
 * Times to ask the driver, at 0.2 microseconds each, before a thread blocks: brief work is noticed
 * sooner.
 */
const LOOKS = 48;

const defaultStreams = new WeakMap<Context, CudaStream>();
const legacyStreams = new WeakMap<Context, CudaStream>();

/** The driver writes the current context here. */
const CURRENT = new BigUint64Array(1);

/** Destroys the mark at the end of a stream. */
let dropEnd: (stream: CudaStream) => void;

/** Pending work of all streams of a context. */
const pendingOn = new WeakMap<Context, Set<PendingWork>>();

/** Blocks until all transfers of a device are over and the calls after them are queued. */
export function finishPending(context: Context, action: string): void {
  const pending = pendingOn.get(context);
  if (pending !== undefined && pending.size > 0) finishNow(pending, action);
}

/**
 * A stream: a queue in which copies, fills and kernels run one after another. Every device has a
 * default stream, and {@link CudaDevice.createStream} creates more. Use a second stream to overlap
 * work: copies in both directions, or copies with kernels. Streams that use the same buffer are ordered
 * by themselves, unless the device was opened with `{ order: "manual" }`.
 *
 * @example Copy in both directions at once
 * ```ts
 * import { CudaDevice } from "vramkit";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using loader = gpu.createStream({ label: "loader" });
 * using host = gpu.pinned("float32", 1024);
 * using input = gpu.alloc("float32", 1024, { stream: loader });
 * using output = gpu.zeros("float32", 1024);
 * input.copyFrom(host, { stream: loader }); // runs beside work on the default stream
 * const result = await output.download();
 * await loader.synchronize();
 * console.log(result.length, loader.isIdle); // 1024 true
 * ```
 */
export class CudaStream implements Disposable {
  /** Context that it belongs to. */
  readonly context: Context;
  /** Priority of the stream's kernels. */
  readonly priority: StreamPriority;
  readonly #handle: bigint;
  #mayBeBusy = true;
  /** Threads that block until its work is done. */
  #waitingThreads = 0;
  /** The owner record; undefined for the streams of the context, which live as long as it does. */
  readonly #record: HandleRecord | undefined;
  /**
   * Transfers on this stream that are not over, and the calls that come after them.
   *
   * @ignore
   */
  readonly pending: Set<PendingWork> = new Set();
  readonly #transfers = new Set<PendingWork>();
  /** The last postponed call: all later work of this stream comes after it. */
  #lastPostponed: PendingWork | undefined;
  /** The error of the first postponed call that failed since the program last waited. */
  #failure: { readonly error: unknown } | undefined;
  /**
   * A mark at the end of the queue, for other streams to wait for; created when it is first needed.
   */
  #end: Fence | undefined;

  /** Whether the handle means this stream only while its context is current, on this thread. */
  readonly #isDefaultHandle: boolean;

  static {
    dropEnd = (stream) => stream.#dropEnd();
  }

  /**
   * Adopts a stream of the driver.
   *
   * @ignore
   */
  constructor(parts: Parts<StreamFields>) {
    const { context, handle, priority = "normal", label, ...rest } = partsOf(parts, new.target);
    this.context = context;
    this.priority = priority;
    this.#handle = handle;
    this.#isDefaultHandle = DEFAULT_HANDLES.includes(handle);
    if (rest.isOfContext === true) return;
    const { destroy = () => context.giveBack("cuStreamDestroy_v2", handle) } = rest;
    this.#record = new HandleRecord(this, { context, kind: "stream", handle, label, destroy });
  }

  /**
   * Makes a stream of one that another library created: from its handle, or from an object with
   * `__cuda_stream__()`, as cuda.core and CuPy have it. Work goes to the library's own queue, in the
   * order of calls on both sides, and buffers are ordered as on any other stream. Disposing it leaves
   * the stream to its owner.
   *
   * The handles 1 and 2 stand for CUDA's legacy default stream and for that of this thread. Their
   * device stays current on the thread while they are used.
   *
   * @param source The handle, or the object; it is not checked whether the stream still exists.
   * @throws TypeError for what is no handle, and for 0, which stands for 1 or 2 by the way in which a
   *   library was compiled.
   *
   * @example
   * ```ts
   * import { CudaDevice, CudaStream } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using theirs = gpu.createStream(); // stands for a stream that a library created
   * using stream = CudaStream.fromHandle(theirs.handle, { gpu, owner: theirs });
   * using x = gpu.zeros("float32", 4, { stream });
   * await stream.synchronize();
   * ```
   */
  static fromHandle(source: bigint | ForeignStream, options: ForeignStreamOptions): CudaStream {
    const given: unknown = options;
    if (!isRecord(given) || given["gpu"] === undefined) {
      throw new TypeError("Cannot call fromHandle(): pass { gpu }, the device of the stream");
    }
    const { gpu, owner, label } = FOREIGN_STREAM_OPTIONS.read(options, "fromHandle");
    const keeper = { kept: [owner, source] as readonly unknown[] };
    const letGo = () => {
      keeper.kept = []; // whatever destroys the stream may go now
    };
    return foreignStream(gpu.context, { handle: foreignHandle(source), label, letGo });
  }

  /**
   * Returns the version of NVIDIA's protocol for streams of other libraries, and the handle: objects
   * that have this method can be passed to them as streams. Blocks as {@link CudaStream.handle} does.
   */
  __cuda_stream__(): readonly [version: 0, handle: bigint] {
    return [0, this.handle];
  }

  /**
   * The driver's handle, for driver calls of your own. Reading it blocks until the transfers called
   * before on this stream are done, so that work queued through the handle comes after them.
   *
   * @throws DisposedError when the stream was disposed.
   */
  get handle(): bigint {
    if (this.disposed) throw new DisposedError(this.toString());
    if (this.pending.size > 0) finishNow(this.pending, `use the handle of ${this}`);
    return this.queueHandle;
  }

  /**
   * The driver's handle, for calls whose turn has come.
   *
   * @ignore
   */
  get queueHandle(): bigint {
    if (this.#isGone) throw new DisposedError(this.toString());
    this.#mayBeBusy = true;
    if (this.#isDefaultHandle) this.#enter();
    return this.#handle;
  }

  /** The handle as an identity for reports, also after disposal; never queue work with it. */
  get key(): bigint {
    return this.#handle;
  }

  /**
   * Whether the stream is idle for certain: it was seen idle and nothing was queued since. Makes no
   * driver call.
   *
   * @ignore
   */
  get isKnownIdle(): boolean {
    return !this.#mayBeBusy;
  }

  /** The stream's label, or its number; `"default"` for the default stream. */
  get name(): string {
    return this.#record?.name ?? (this.#isDefaultHandle ? "legacy default" : "default");
  }

  /**
   * Whether the stream was disposed. The default stream counts as disposed once its device and all
   * buffers are gone.
   */
  get disposed(): boolean {
    return this.#record?.released ?? this.context.released;
  }

  /**
   * Whether the stream was disposed and its work is known to be done, so that nothing needs to wait
   * for it.
   *
   * @ignore
   */
  get isOver(): boolean {
    return this.#isGone && this.#end === undefined;
  }

  /**
   * Whether all work queued so far is done, transfers included (cuStreamQuery).
   *
   * @throws CudaError when that work failed.
   */
  get isIdle(): boolean {
    if (this.disposed) throw new DisposedError(this.toString());
    requireUncaptured(this, "look for the end of the work");
    if (this.pending.size > 0) return false;
    this.throwFailure();
    return this.isQueueIdle;
  }

  /**
   * Whether all work that the driver was given is done (cuStreamQuery).
   *
   * @ignore
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
   * Records an event at this point of the queue (cuEventRecord); does not wait. The event comes
   * after all transfers called on this stream before, awaited or not. The caller disposes it.
   *
   * @param options An event to record again, or options for a new one.
   * @returns The event.
   */
  record(options: EventOptions | CudaEvent = {}): CudaEvent {
    if (this.disposed) throw new DisposedError(this.toString());
    if (options instanceof CudaEvent) return this.#recordOn(options);
    const event = createEvent(this.context, EVENT_OPTIONS.read(options, "record"));
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
    const isRecorded = capture?.includes(this) === true;
    if (isRecorded && event.shareable) {
      throw new TypeError(`Cannot record ${event} in a capture: it is for other processes`);
    }
    event.capture = isRecorded ? capture : undefined;
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
   * Makes all later work of this stream wait for an event, or for all work queued on another stream
   * so far, transfers included (cuStreamWaitEvent). Returns at once: the GPU waits, not the
   * program. A stream that waits for a stream under capture is captured too.
   *
   * @throws TypeError when this stream is being captured and the work it would wait for is not.
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
    if (target instanceof CudaEvent && target.shareable && target.context !== this.context) {
      throw new TypeError(
        `Cannot make ${this} wait for ${target}: events for other processes are for streams of their ` +
          `own device`,
      );
    }
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
   * Makes all later work wait for all work that another stream has queued so far. When that stream
   * is being captured, only the work from before the capture counts.
   *
   * @ignore
   */
  follow(target: CudaStream): void {
    const { queueHandle } = this;
    if (target !== this) target.#markEnd()?.hold(queueHandle);
  }

  /**
   * The work that must be over so that nothing is pending on this stream: its transfers, and the
   * last postponed call, which comes after all others.
   *
   * @ignore
   */
  get pendingEnds(): PendingWork[] {
    const transfers = this.#transfers.size === 0 ? [] : [...this.#transfers];
    return this.#lastPostponed === undefined ? transfers : [...transfers, this.#lastPostponed];
  }

  /**
   * The last postponed call, which every later call on this stream comes after, whatever memory it
   * uses.
   *
   * @ignore
   */
  get lastPostponed(): PendingWork | undefined {
    return this.#lastPostponed;
  }

  /**
   * Makes a call on this stream once `earlier` is over. An error that it throws is thrown again by
   * the next call that waits for the stream. If a capture runs at that time, the call waits for its
   * end, so that it is not recorded.
   *
   * @ignore
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
   * Throws the error of a postponed call, once: called when the program waits for the stream, or
   * reads memory that the call was to write.
   *
   * @ignore
   */
  throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
  }

  /**
   * Registers pending work of this stream, and keeps the driver's stream until that work is over.
   *
   * @ignore
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
   * Returns this stream or, when it was disposed, the default stream ordered after the work left on
   * this one.
   *
   * @ignore
   */
  orDefault(): CudaStream {
    if (!this.disposed) return this;
    const stream = defaultStreamOf(this.context);
    stream.follow(this);
    return stream;
  }

  /**
   * Records the mark that {@link CudaStream.follow} needs while this stream is being captured.
   *
   * @throws TypeError while a thread waits for the stream, which would break the capture.
   * @ignore
   */
  prepareCapture(): void {
    if (this.#waitingThreads > 0) {
      throw new TypeError(`Cannot capture ${this}: a promise waits for its work, await that first`);
    }
    this.#markEnd();
  }

  /**
   * Resolves when all work queued so far is done, transfers included. The event loop keeps running.
   * A transfer that fails rejects its own promise, not this one.
   *
   * @throws CudaError when queued work failed.
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
   * Resolves when all work that the driver was given so far is done.
   *
   * @ignore
   */
  async synchronizeQueue(): Promise<void> {
    if (isSoon(() => this.isQueueIdle)) return;
    await waitForGpu(() => this.isQueueIdle, async () => {
      const { driver } = this.context;
      if (this.#isDefaultHandle) return await this.#waitForFence();
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

  /**
   * Blocks until all work queued so far is done, transfers included (cuStreamSynchronize).
   *
   * @throws CudaError when queued work failed.
   */
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
   * Blocks until all work that the driver was given so far is done.
   *
   * @ignore
   */
  synchronizeQueueSync(): void {
    requireUncaptured(this, "look for the end of the work");
    const { driver } = this.context;
    const handle = this.queueHandle;
    let status: number = CUresult.CUDA_ERROR_NOT_READY;
    for (let look = 0; look < LOOKS && status === CUresult.CUDA_ERROR_NOT_READY; look++) {
      status = driver.api.cuStreamQuery(handle);
    }
    // A failed query does not mean that the work is over.
    if (status !== CUresult.CUDA_SUCCESS) {
      driver.check(driver.api.cuStreamSynchronize(handle), "cuStreamSynchronize");
    }
    this.#mayBeBusy = false;
  }

  /**
   * Destroys the stream. Work queued on it still runs, and the memory it uses stays until then. A
   * second call does nothing.
   *
   * @throws TypeError for a device's default stream, which lives as long as the device, and for a
   *   stream that is being captured.
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

  /** Returns the stream's name for messages: `CudaStream(loader)`. */
  toString(): string {
    return `CudaStream(${this.name})`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this}${this.disposed ? " disposed" : ""}`;
  }

  /** Whether the driver's stream is destroyed: postponed calls keep it for a while. */
  get #isGone(): boolean {
    return this.#record?.isDestroyed ?? this.context.released;
  }

  /**
   * Makes the context current, so that the handle means this stream. It stays current: what is called
   * with the handle next is a call of its own.
   */
  #enter(): void {
    const { context } = this;
    const { driver } = context;
    driver.call("cuCtxGetCurrent", CURRENT);
    if (CURRENT[0] !== context.handle) driver.call("cuCtxSetCurrent", context.handle);
  }

  /** Waits by an event: on another thread the handle would mean another stream, or none. */
  async #waitForFence(): Promise<void> {
    const fence = Fence.behind(this.context, this.queueHandle);
    this.#waitingThreads++;
    try {
      await fence.waitElsewhere();
    } finally {
      this.#waitingThreads--;
      fence.dispose();
    }
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

  /**
   * Moves the end mark to the end of the queue, unless the stream is destroyed or being captured.
   */
  #markEnd(): Fence | undefined {
    if (this.#isGone || isCaptured(this)) return this.#end;
    if (this.#isDefaultHandle) this.#enter();
    if (this.#end === undefined) this.#end = Fence.behind(this.context, this.#handle);
    else this.#end.set(this.#handle);
    return this.#end;
  }

  /**
   * Records the end mark while work is still queued, so that other streams can be ordered after it.
   * Waits for the work when the driver cannot record it.
   */
  #leaveMark(): void {
    const { context } = this;
    if (this.#isDefaultHandle) this.#enter();
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

/** The driver's number for a priority: smaller is more urgent (cuCtxGetStreamPriorityRange). */
function priorityNumber(context: Context, priority: StreamPriority): number {
  if (priority === "normal") return 0;
  const least = new Int32Array(1);
  const greatest = new Int32Array(1);
  context.call("cuCtxGetStreamPriorityRange", least, greatest);
  return (priority === "high" ? greatest[0] : least[0]) ?? 0;
}

/** Returns the default stream of a context, used by every call that names no other. */
export function defaultStreamOf(context: Context): CudaStream {
  return streamOf(context, defaultStreams, context.defaultStreamHandle);
}

/**
 * Returns CUDA's legacy default stream in a context, on which other libraries work unless they are told
 * another one.
 */
export function legacyStreamOf(context: Context): CudaStream {
  return streamOf(context, legacyStreams, BigInt(CU_STREAM_LEGACY));
}

/** Returns a stream that lives as long as its context. */
function streamOf(
  context: Context,
  streams: WeakMap<Context, CudaStream>,
  handle: bigint,
): CudaStream {
  const known = streams.get(context);
  if (known !== undefined) return known;
  const made = new CudaStream(new Parts({ context, handle, isOfContext: true }));
  context.atRelease(() => dropEnd(made));
  streams.set(context, made);
  return made;
}

/** Creates a stream that does not block on the legacy stream (cuStreamCreateWithPriority). */
export function createStream(context: Context, options: StreamOptions = {}): CudaStream {
  STREAM_OPTIONS.read(options, "createStream");
  const priority = priorityNumber(context, options.priority ?? "normal");
  const flags = CUstream_flags.CU_STREAM_NON_BLOCKING;
  const handle = take64(context, "cuStreamCreateWithPriority", flags, priority);
  return new CudaStream(new Parts({ ...options, context, handle }));
}

/** A stream of another library's, and the call that tells the library that it is not used any more. */
interface ForeignStreamFields {
  readonly handle: bigint;
  readonly label?: string | undefined;
  readonly letGo: () => void;
}

/** Makes a stream of one that another library keeps until `letGo` is called. */
export function foreignStream(context: Context, fields: ForeignStreamFields): CudaStream {
  const { handle, label, letGo } = fields;
  if (handle !== context.defaultStreamHandle) {
    return new CudaStream(new Parts({ context, handle, label, destroy: letGo }));
  }
  letGo();
  return defaultStreamOf(context);
}

/** Returns the handle of another library's stream, and refuses what is none. */
export function foreignHandle(source: unknown): bigint {
  const handle = typeof source === "bigint" ? source : handleOf(source);
  if (handle > 0n && handle < 2n ** 64n) return handle;
  throw new TypeError(
    `Cannot use ${handle} as the handle of a stream: it is an address, or 1 for the legacy default ` +
      `stream, or 2 for that of this thread`,
  );
}

function handleOf(source: unknown): bigint {
  const tell = (source as Partial<ForeignStream> | null | undefined)?.__cuda_stream__;
  const told: unknown = typeof tell === "function" ? tell.call(source) : undefined;
  const [version, handle] = Array.isArray(told) ? told as unknown[] : [];
  const isNumber = typeof handle === "bigint" || Number.isSafeInteger(handle);
  if (version === 0 && isNumber) return BigInt(handle as number | bigint);
  throw new TypeError(
    `Cannot make a stream of ${
      describeValue(source)
    }: expected its handle as a bigint, or an object ` +
      `whose __cuda_stream__() returns [0, handle]`,
  );
}
