// An ordered queue of GPU work. Queueing never waits for the GPU; synchronize() does.
// Streams order themselves after each other by events, made only when two streams meet.

import { CUresult, CUstream_flags } from "../ffi/constants.ts";
import { activeCapture, isCaptured, requireUncaptured, waitsOutside } from "./capture.ts";
import { type DisplayBundle, showCard } from "./cards/card.ts";
import { progressWords, queueCard, type QueueFacts } from "./cards/queue_cards.ts";
import type { Context } from "./context.ts";
import { DisposedError } from "./errors.ts";
import { CudaEvent, type EventOptions } from "./event.ts";
import { Fence } from "./fence.ts";
import { formatAddress } from "./format.ts";
import { HandleRecord } from "./handle_record.ts";
import { priorityNumber, type StreamPriority } from "./stream_priority.ts";
import { isSoon, waitForGpu } from "./waiting.ts";

/** How to make a stream. */
export interface StreamOptions {
  /** How urgent its kernels are; `"normal"` by default. */
  readonly priority?: StreamPriority;
  /** A name for tables and errors. */
  readonly label?: string;
}

/** Looks of 0.2 microseconds each before a thread blocks: the end of brief work shows sooner so. */
const LOOKS = 48;

const defaultStreams = new WeakMap<Context, CudaStream>();

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
  /** The end of the queue, for other streams to wait for; made when two streams first meet. */
  #end: Fence | undefined;

  private constructor(context: Context, handle: bigint, options: StreamOptions = {}) {
    this.context = context;
    this.priority = options.priority ?? "normal";
    this.#handle = handle;
    if (handle === context.defaultStreamHandle) return;
    const destroy = (handle: bigint) => context.status("cuStreamDestroy_v2", handle);
    const { label } = options;
    this.#record = new HandleRecord(this, { context, kind: "stream", handle, label, destroy });
  }

  /** Creates a stream that does not block on the legacy stream (cuStreamCreateWithPriority). */
  static create(context: Context, options: StreamOptions = {}): CudaStream {
    const cell = new BigUint64Array(1);
    const priority = priorityNumber(context, options.priority ?? "normal");
    const flags = CUstream_flags.CU_STREAM_NON_BLOCKING;
    context.call("cuStreamCreateWithPriority", cell, flags, priority);
    return new CudaStream(context, cell[0] ?? 0n, options);
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

  /** The driver's handle, checked; whoever asks for it may queue work. */
  get handle(): bigint {
    if (this.disposed) throw new DisposedError(this.toString());
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
    return this.disposed && this.#end === undefined;
  }

  /** Whether all work queued so far is done (cuStreamQuery). Throws what that work failed with. */
  get isIdle(): boolean {
    const { driver } = this.context;
    requireUncaptured(this, "look for the end of the work");
    const status = driver.api.cuStreamQuery(this.handle);
    if (status === CUresult.CUDA_ERROR_NOT_READY) return false;
    driver.check(status, "cuStreamQuery");
    this.#mayBeBusy = false;
    return true;
  }

  /** Marks this point of the queue (cuEventRecord); does not wait. The caller disposes the event. */
  record(options: EventOptions | CudaEvent = {}): CudaEvent {
    const { handle } = this;
    const event = options instanceof CudaEvent ? options : CudaEvent.create(this.context, options);
    this.#checkContext(event);
    this.context.driver.call("cuEventRecord", event.handle, handle);
    const capture = activeCapture();
    event.capture = capture?.includes(this) ? capture : undefined;
    return event;
  }

  /**
   * Makes all later work of this stream wait for an event, or for all that another stream has
   * queued so far (cuStreamWaitEvent). Returns at once: the GPU waits, not the program. A stream that
   * waits for one that is being captured is captured too.
   *
   * @throws TypeError when this stream is being captured and the other's work is not.
   */
  wait(target: CudaEvent | CudaStream): void {
    const { handle } = this;
    if (target === this) return;
    if (!(target instanceof CudaEvent || target instanceof CudaStream)) {
      throw new TypeError(`Cannot wait for ${String(target)}: expected an event or a stream`);
    }
    const capture = activeCapture();
    const isRecorded = target instanceof CudaEvent ? target.isOf(capture) : isCaptured(target);
    if (capture !== undefined && isRecorded !== capture.includes(this)) {
      if (!isRecorded) throw waitsOutside(this, `${target}`);
      this.prepareCapture();
    }
    if (target instanceof CudaEvent) {
      this.context.driver.call("cuStreamWaitEvent", handle, target.handle, 0);
      if (isRecorded) capture?.add(this);
    } else if (isRecorded) capture?.join(this, target);
    else this.follow(target);
  }

  /**
   * Makes all later work wait for all that another stream has queued so far; of one that is being
   * captured that is what it was given before.
   *
   * @internal
   */
  follow(target: CudaStream): void {
    const { handle } = this;
    if (target !== this) target.#markEnd()?.hold(handle);
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

  /** Resolves when all work queued so far is done; the event loop goes on meanwhile. */
  async synchronize(): Promise<void> {
    if (isSoon(() => this.isIdle)) return;
    await waitForGpu(() => this.isIdle, async () => {
      const { driver } = this.context;
      this.#waitingThreads++;
      let status: number;
      try {
        status = await driver.api.cuStreamSynchronizeNonblocking(this.handle);
      } finally {
        this.#waitingThreads--;
      }
      if (status !== CUresult.CUDA_SUCCESS) throw driver.error(status, "cuStreamSynchronize");
    });
  }

  /** Blocks until all work queued so far is done (cuStreamSynchronize). */
  synchronizeSync(): void {
    for (let look = 0; look < LOOKS; look++) if (this.isIdle) return;
    const { driver } = this.context;
    driver.check(driver.api.cuStreamSynchronize(this.handle), "cuStreamSynchronize");
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
    this.#leaveMark();
    this.#record.release();
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

  /** Shows the stream in a notebook. */
  [Symbol.for("Jupyter.display")](): DisplayBundle {
    return showCard(() => queueCard(this.#facts()));
  }

  #facts(): QueueFacts {
    const { priority, disposed, context } = this;
    const words = { done: "idle", busy: "working on what was queued" };
    return {
      kind: "CudaStream",
      name: this.name,
      ordinal: context.ordinal,
      qualities: [`${priority} priority`],
      content: disposed ? undefined : {
        handle: formatAddress(this.#handle),
        progress: isCaptured(this) ? "being captured" : progressWords(() => this.isIdle, words),
      },
    };
  }

  /** Moves the end mark to the end of the queue; a destroyed or captured stream's stays where it is. */
  #markEnd(): Fence | undefined {
    if (this.disposed || isCaptured(this)) return this.#end;
    this.#end ??= new Fence(this.context);
    this.#end.set(this.#handle);
    return this.#end;
  }

  /** Leaves the end mark while work is still queued, so that others can be ordered after it. */
  #leaveMark(): void {
    const { context } = this;
    const status = context.driver.status("cuStreamQuery", this.#handle);
    if (status !== CUresult.CUDA_ERROR_NOT_READY) return this.#dropEnd();
    const end = this.#markEnd();
    context.defer({ isDue: () => end?.isPassed ?? true, run: () => this.#dropEnd() });
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
