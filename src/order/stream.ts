// An ordered queue of GPU work. Queueing never waits for the GPU; synchronize() does. Events order
// streams after each other, and are created only when two streams use the same memory.

import { CU_STREAM_LEGACY, CUstream_flags } from "../../ffi/constants.ts";
import { Context } from "../driver/context.ts";
import { take64 } from "../driver/driver.ts";
import { DisposedError } from "../words/errors.ts";
import { finished } from "../words/finished.ts";
import { describeValue } from "../words/format.ts";
import { ANYTHING, isRecord, oneOf, OptionSet, TEXT } from "../words/options.ts";
import { Owned } from "../words/owned.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import {
  activeCapture,
  cannotRecord,
  isCaptured,
  requireUncaptured,
  waitsOutside,
} from "./capture.ts";
import { createEvent, CudaEvent, EVENT_OPTIONS, type EventOptions, markOf } from "./event.ts";
import { HandleRecord } from "./handle_record.ts";
import { allOver, finishNow, type PendingWork } from "./pending_work.ts";
import { type CallFailure, StreamQueue } from "./stream_queue.ts";

/** Priority of a stream's kernels; copies are not reordered by it. */
export type StreamPriority = "low" | "normal" | "high";

/** Options for {@link CudaDevice.createStream}. */
export interface StreamOptions {
  /** Priority of the stream's kernels; `"normal"` by default. */
  readonly priority?: StreamPriority | undefined;
  /** Name shown in tables and errors. */
  readonly label?: string | undefined;
}

interface StreamFields extends StreamOptions {
  readonly context: Context;
  readonly handle: bigint;
  /** Gives the stream back; by default it is destroyed. */
  readonly destroy?: (() => void) | undefined;
  /** It lives as long as its context, so that nobody can dispose it. */
  readonly isOfContext?: boolean;
}

const STREAM_OPTIONS = new OptionSet<StreamOptions>({
  priority: oneOf("low", "normal", "high"),
  label: TEXT,
});

/** A stream of another library, which tells its handle as NVIDIA's libraries for Python do. */
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

const defaultStreams = new WeakMap<Context, CudaStream>();
const legacyStreams = new WeakMap<Context, CudaStream>();
/** Streams that programs created, by handle; they can still be garbage-collected. */
const madeStreams = new WeakMap<Context, Map<bigint, WeakRef<CudaStream>>>();
/** The failure of a call on a stream that is gone, for whoever waits for the device. */
const leftFailures = new WeakMap<Context, CallFailure>();

/** Returns the queue of a stream, which order works with. */
export let queueOf: (stream: CudaStream) => StreamQueue;

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
export class CudaStream extends Owned {
  /** Context that it belongs to. */
  readonly context: Context;
  /** Priority of the stream's kernels. */
  readonly priority: StreamPriority;
  /** The owner record; undefined for the streams of the context, which live as long as it does. */
  readonly #record: HandleRecord | undefined;
  readonly #queue: StreamQueue;

  static {
    queueOf = (stream) => {
      try {
        return stream.#queue;
      } catch { // only streams have one
        throw new TypeError(
          `Cannot use ${describeValue(stream)}: expected a stream of gpu.createStream()`,
        );
      }
    };
  }

  /** @ignore Adopts a stream of the driver. */
  constructor(parts: Parts<StreamFields>) {
    super();
    const { context, handle, priority = "normal", label, ...rest } = partsOf(parts, new.target);
    this.context = context;
    this.priority = priority;
    let queue: StreamQueue | undefined;
    if (rest.isOfContext !== true) {
      const isForeign = rest.destroy !== undefined;
      const { destroy = () => context.giveBack("cuStreamDestroy_v2", handle) } = rest;
      const beforeEnd = (isLost: boolean) => {
        const made = madeStreams.get(context);
        if (made?.get(handle)?.deref()?.disposed !== false) made?.delete(handle);
        const failure = queue?.failure;
        if (failure !== undefined && leftFailures.get(context)?.isTold !== false) {
          leftFailures.set(context, failure);
        }
        // A lost stream of another library may be gone by now: a call with its handle could crash the
        // process. Memory keeps the streams that use it alive, so nobody waits for it.
        if (isLost && isForeign) queue?.loseEnd();
        else queue?.leaveMark();
      };
      const fields = { context, kind: "stream", handle, label, destroy } as const;
      this.#record = new HandleRecord(this, { ...fields, beforeEnd });
    }
    this.#queue = queue = new StreamQueue({ context, handle, record: this.#record });
  }

  /**
   * Wraps a stream that another library created, given its handle or an object with
   * `__cuda_stream__()`, as cuda.core and CuPy have. Work goes to the library's own queue, in the
   * order of calls on both sides, and buffers are ordered as on any other stream. Disposing it leaves
   * the stream to its owner.
   *
   * The handles 1 and 2 stand for CUDA's legacy default stream and for that of this thread. Their
   * device stays current on the thread while they are used.
   *
   * @param source The handle, or the object; it is not checked whether the stream still exists.
   * @throws TypeError for a value that is not a handle, and for 0, which stands for 1 or 2 by the way in
   *   which a library was compiled.
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
    const { pending } = this.#queue;
    if (pending.size > 0) finishNow(pending, `use the handle of ${this}`);
    return this.#queue.handle;
  }

  /** The handle as an identity for reports, also after disposal; never queue work with it. */
  get key(): bigint {
    return this.#queue.key;
  }

  /** The stream's label, or its number; `"default"` for the default stream. */
  get name(): string {
    return this.#queue.name;
  }

  /**
   * Tells whether the stream was disposed. The default stream counts as disposed once its device and all
   * buffers are gone.
   */
  get disposed(): boolean {
    return this.#record?.released ?? this.context.released;
  }

  /**
   * Tells whether all work queued so far is done, transfers included (cuStreamQuery).
   *
   * @throws CudaError when that work failed.
   */
  get isIdle(): boolean {
    if (this.disposed) throw new DisposedError(this.toString());
    requireUncaptured(this, "look for the end of the work");
    if (this.#queue.pending.size > 0) return false;
    this.#queue.throwFailure();
    return this.#queue.isIdle;
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
    return finished(
      createEvent(this.context, EVENT_OPTIONS.read(options, "record")),
      (event) => this.#recordOn(event),
    );
  }

  #recordOn(event: CudaEvent): CudaEvent {
    this.#checkContext(event);
    if (event.disposed) throw new DisposedError(event.toString());
    const capture = activeCapture;
    const isRecorded = capture?.includes(this) === true;
    if (isRecorded && event.shareable) {
      throw new TypeError(`Cannot record ${event} in a capture: it is for other processes`);
    }
    const mark = markOf(event);
    const queue = this.#queue;
    const set = () => mark.set(queue.handle);
    mark.capture = isRecorded ? capture : undefined;
    if (isRecorded || (queue.pending.size === 0 && mark.pending.size === 0)) {
      set();
      mark.failure = isRecorded ? undefined : queue.failure;
      return event;
    }
    const work = queue.postpone(set, [...queue.pendingEnds, ...mark.pending]);
    mark.notePending(work, { isRecording: true });
    work.whenOver(() => mark.failure = queue.failure);
    return event;
  }

  /**
   * Makes all later work of this stream wait for an event, or for all work queued on another stream
   * so far, transfers included (cuStreamWaitEvent). Returns at once: the GPU waits, not the
   * program. A stream that waits for a stream under capture is captured too.
   *
   * @throws TypeError when this stream is being captured and the work it would wait for is not, and for
   *   a target of another driver.
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
    if (target.context.driver !== this.context.driver) {
      throw new TypeError(
        `Cannot make ${this} wait for ${target}: they belong to two drivers; await its ` +
          `synchronize() first`,
      );
    }
    if (target instanceof CudaEvent && target.shareable && target.context !== this.context) {
      throw new TypeError(
        `Cannot make ${this} wait for ${target}: events for other processes are for streams of their ` +
          `own device`,
      );
    }
    if (target instanceof CudaEvent) this.#waitForEvent(target);
    else this.#waitForStream(target);
  }

  #waitForEvent(event: CudaEvent): void {
    const mark = markOf(event);
    const queue = this.#queue;
    const wait = () => mark.hold(queue.handle);
    if (this.#joinsCapture(event, mark.isOf(activeCapture))) {
      wait();
      activeCapture?.add(queue);
      return;
    }
    const earlier = lastOf(queue, mark.pending);
    if (earlier.length === 0) wait();
    else mark.notePending(queue.postpone(wait, earlier), { isRecording: false });
  }

  #waitForStream(stream: CudaStream): void {
    if (this.#joinsCapture(stream, isCaptured(stream))) {
      activeCapture?.join(this.#queue, stream.#queue);
      return;
    }
    const queue = this.#queue;
    const target = stream.#queue;
    const earlier = lastOf(queue, target.pending);
    if (earlier.length === 0) queue.follow(target);
    else queue.postpone(() => queue.follow(target), earlier);
  }

  /**
   * Returns whether what this stream waits for is being recorded, and prepares this one to be.
   *
   * @throws TypeError when this stream is being recorded and the other is not.
   */
  #joinsCapture(target: CudaEvent | CudaStream, isRecorded: boolean): boolean {
    const capture = activeCapture;
    if (capture !== undefined && isRecorded !== capture.includes(this)) {
      if (!isRecorded) throw waitsOutside(this, `${target}`);
      this.#queue.prepareCapture();
    }
    return isRecorded;
  }

  /**
   * Resolves when all work queued so far is done, transfers included. The event loop keeps running.
   * A transfer that fails rejects its own promise, not this one.
   *
   * @throws CudaError when queued work failed.
   * @throws TypeError while the stream is being captured; the capture fails, too.
   */
  async synchronize(): Promise<void> {
    if (this.disposed) throw new DisposedError(this.toString());
    if (isCaptured(this)) throw cannotRecord(this, "wait for the end of the work");
    const queue = this.#queue;
    if (queue.pending.size > 0) await allOver(queue.pendingEnds);
    await queue.synchronize();
    this.context.sweep();
    if (!queue.isKnownIdle && !queue.isGone) await queue.synchronize(); // what was put off, too
    queue.throwFailure();
  }

  /**
   * Blocks until all work queued so far is done, transfers included (cuStreamSynchronize).
   *
   * @throws CudaError when queued work failed.
   */
  synchronizeSync(): void {
    if (this.disposed) throw new DisposedError(this.toString());
    requireUncaptured(this, "look for the end of the work");
    const queue = this.#queue;
    if (queue.pending.size > 0) finishNow(queue.pending, `wait for ${this}`);
    queue.synchronizeSync();
    this.context.sweep();
    if (!queue.isKnownIdle) queue.synchronizeSync(); // what was put off, too
    queue.throwFailure();
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
    this.#record.release();
  }

  /** Returns the stream's name for messages: `CudaStream(loader)`. */
  override toString(): string {
    return `CudaStream(${this.name})`;
  }

  #checkContext(event: CudaEvent): void {
    if (event.context === this.context) return;
    throw new TypeError(
      `Cannot record ${event} on ${this}: it belongs to device ${event.context.ordinal}, ` +
        `the stream to device ${this.context.ordinal}`,
    );
  }
}

comesFrom(CudaStream, "gpu.createStream()");

/** Lists what a call on a queue that waits for `pending` comes after. */
function lastOf({ lastPostponed }: StreamQueue, pending: Iterable<PendingWork>): PendingWork[] {
  return lastPostponed === undefined ? [...pending] : [...pending, lastPostponed];
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
  return defaultStreams.get(context) ??
    streamOf(context, defaultStreams, context.defaultStreamHandle);
}

/** Returns a stream or, when it was disposed, the default one ordered after the work left on it. */
export function usableStream(stream: CudaStream): CudaStream {
  if (!stream.disposed) return stream;
  const other = defaultStreamOf(stream.context);
  queueOf(other).follow(queueOf(stream));
  return other;
}

/**
 * Returns CUDA's legacy default stream in a context, on which other libraries work unless they are told
 * another one.
 */
export function legacyStreamOf(context: Context): CudaStream {
  return legacyStreams.get(context) ??
    streamOf(context, legacyStreams, BigInt(CU_STREAM_LEGACY));
}

/** Makes a stream that lives as long as its context. */
function streamOf(
  context: Context,
  streams: WeakMap<Context, CudaStream>,
  handle: bigint,
): CudaStream {
  const made = new CudaStream(new Parts({ context, handle, isOfContext: true }));
  context.atRelease(() => queueOf(made).dropEnd());
  streams.set(context, made);
  return made;
}

/** Creates a stream that does not block on the legacy stream (cuStreamCreateWithPriority). */
export function createStream(context: Context, options: StreamOptions = {}): CudaStream {
  options = STREAM_OPTIONS.read(options, "createStream");
  context.requireLive();
  const priority = priorityNumber(context, options.priority ?? "normal");
  const flags = CUstream_flags.CU_STREAM_NON_BLOCKING;
  const handle = take64(context, "cuStreamCreateWithPriority", flags, priority);
  const stream = new CudaStream(new Parts({ ...options, context, handle }));
  madeStreams.getOrInsertComputed(context, () => new Map()).set(handle, new WeakRef(stream));
  return stream;
}

/**
 * Resolves when all work queued so far is done on the default stream and on those that programs made,
 * and when what waited for work on other streams, such as disposed ones, has run.
 *
 * @throws CudaError when queued work failed.
 */
export async function synchronizeStreams(context: Context): Promise<void> {
  const made = [...madeStreams.get(context)?.values() ?? []];
  const first = defaultStreamOf(context);
  await first.synchronize();
  for (const reference of made) await synchronizeUnlessGone(reference.deref());
  const queue = queueOf(first);
  if (context.deferred.works.size > 0 && !first.disposed) {
    const hold = () => context.holdForDeferred(queue.handle);
    if (queue.pending.size === 0) hold();
    else queue.postpone(hold, queue.pendingEnds); // what was called meanwhile has its place before
  }
  if (queue.pending.size > 0 || !queue.isKnownIdle) await synchronizeUnlessGone(first);
  // The deferred work may have queued frees on these streams.
  for (const reference of made) {
    const stream = reference.deref();
    if (stream !== undefined && !queueOf(stream).isKnownIdle) await synchronizeUnlessGone(stream);
  }
  leftFailures.get(context)?.tell();
}

/** Throws what a postponed call failed with, on the default stream or one that programs made. */
export function throwFailures(context: Context): void {
  const made = [...madeStreams.get(context)?.values() ?? []].map((reference) => reference.deref());
  for (const stream of [defaultStreams.get(context), ...made]) {
    if (stream !== undefined) queueOf(stream).throwFailure();
  }
  leftFailures.get(context)?.tell();
}

/** Waits for a stream that may be disposed meanwhile. */
async function synchronizeUnlessGone(stream: CudaStream | undefined): Promise<void> {
  try {
    if (stream?.disposed === false) await stream.synchronize();
  } catch (error) {
    if (!(error instanceof DisposedError && stream?.disposed)) throw error;
  }
}

const foreignStreams = new WeakSet<CudaStream>();

/** Returns whether a stream was made by another library, which may queue work on it as well. */
export function isForeignStream(stream: CudaStream): boolean {
  return foreignStreams.has(stream);
}

/** Wraps a stream that another library keeps until `letGo` is called. */
export function foreignStream(
  context: Context,
  { handle, label, letGo }: {
    readonly handle: bigint;
    readonly label?: string | undefined;
    readonly letGo: () => void;
  },
): CudaStream {
  if (handle !== context.defaultStreamHandle) {
    const stream = new CudaStream(new Parts({ context, handle, label, destroy: letGo }));
    foreignStreams.add(stream);
    return stream;
  }
  letGo();
  return defaultStreamOf(context);
}

/** Returns the handle of another library's stream, after checking that it can be one. */
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
    `Cannot make a stream of ${describeValue(source)}: expected its handle as a bigint, or an ` +
      `object whose __cuda_stream__() returns [0, handle]`,
  );
}
