// A typed window on one block of memory: what it shows, where it lies, whether it can still be used.
// It owns the block or only shows it; what people do with the bytes is in the class above it.

import type { Context } from "../context.ts";
import { type DType, elementBytes } from "../dtype.ts";
import { DisposedError } from "../errors.ts";
import { formatBytes } from "../format.ts";
import { requireKind } from "../options.ts";
import { nextId } from "../accounting/ids.ts";
import { type LiveKind, nameOf } from "../accounting/ledger.ts";
import type { Allocation } from "../memory/allocation.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import type { CudaStream } from "../stream.ts";
import { STREAM, type StreamChoice, streamOn } from "../stream_choice.ts";
import type { MemorySpan } from "../transfer/copy.ts";
import { countOf, formatShape, type Shape } from "./shape.ts";

/** What a buffer or a view is made of. */
export interface BufferFields<D extends DType> {
  /** The block of memory. */
  readonly allocation: Allocation;
  /**
   * Lives exactly as long as something can still reach the block; its collection frees it. The
   * buffer itself when left out; views keep it alive.
   */
  readonly token?: object | undefined;
  /** The element type. */
  readonly dtype: D;
  /** Sizes along each axis. */
  readonly shape: Shape;
  /** Where the first element lies, in bytes from the start of the block. */
  readonly byteOffset: number;
  /** Whether disposing it leaves the block alone. */
  readonly isView: boolean;
}

/** The block of a buffer, for what shows it: looking at it is no use of it. */
export let blockOf: (buffer: MemoryWindow) => Allocation;

/** A block of memory, or a part of one, as elements of one type. */
export abstract class MemoryWindow<D extends DType = DType> implements Disposable, AsyncDisposable {
  /** This value's number, never used again; a view has its own. */
  readonly id: number = nextId();
  /** The element type. */
  readonly dtype: D;
  /** Where it starts, in bytes from the start of its block. */
  readonly byteOffset: number;
  /** Whether it shows memory of another buffer; disposing a view frees nothing. */
  readonly isView: boolean;
  readonly #allocation: Allocation;
  readonly #token: object;
  #shape: Shape;
  #length: number;
  #byteLength: number;
  #viewDisposed = false;

  static {
    blockOf = (buffer) => buffer.#allocation;
  }

  /** Adopts memory. */
  constructor(fields: BufferFields<D>) {
    const { allocation, token, dtype, shape, byteOffset, isView } = fields;
    this.dtype = dtype;
    this.#shape = shape;
    this.#length = countOf(shape);
    this.#byteLength = this.#length * elementBytes(dtype);
    this.byteOffset = byteOffset;
    this.isView = isView;
    this.#allocation = allocation;
    this.#token = token ?? this;
  }

  /** Sizes along each axis, outermost first. */
  get shape(): Shape {
    return this.#shape;
  }

  /** How many elements. */
  get length(): number {
    return this.#length;
  }

  /** Its size in bytes. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** The block's number, shared by all views of it and never used again. */
  get storageId(): number {
    return this.#allocation.id;
  }

  /** Bytes of the whole block. */
  get totalByteLength(): number {
    return this.#allocation.byteLength;
  }

  /** The name it was made with. */
  get label(): string | undefined {
    return this.#allocation.label;
  }

  /** What kind of memory it is. */
  get kind(): LiveKind {
    return this.#allocation.kind;
  }

  /** The context it belongs to. */
  get context(): Context {
    return this.#allocation.context;
  }

  /** The number of the device it belongs to. */
  get deviceOrdinal(): number {
    return this.context.ordinal;
  }

  /** Where its memory came from. */
  get memoryResource(): MemoryResource {
    return this.#allocation.resource;
  }

  /** Whether the GPU can use it. */
  get isDeviceAccessible(): boolean {
    return this.memoryResource.isDeviceAccessible;
  }

  /** Whether the CPU can use it. */
  get isHostAccessible(): boolean {
    return this.memoryResource.isHostAccessible;
  }

  /** Whether it was disposed, or its memory was. */
  get disposed(): boolean {
    return this.#viewDisposed || this.#allocation.released;
  }

  /** The address for kernels and other libraries; 0n when it has no bytes. */
  get ptr(): bigint {
    return this.span.address;
  }

  /** The memory, for copies and kernels; checked. */
  get span(): MemorySpan {
    if (this.disposed) throw new DisposedError(this.toString());
    const allocation = this.#allocation;
    const { byteLength, byteOffset } = this;
    if (byteLength === 0) return { allocation, address: 0n, byteLength };
    const start = allocation.address;
    // A sum makes a new bigint, which costs more than all the rest here.
    const address = byteOffset === 0 ? start : start + BigInt(byteOffset);
    return { allocation, address, byteLength };
  }

  /** Gives the memory back after the work queued on it; a view only lets go of it. */
  dispose(): void {
    this.#letGo(undefined);
  }

  /** Gives the memory back in the order of `stream` instead of the one it was made on. */
  close(stream: CudaStream): void {
    requireKind(stream, STREAM, "close");
    this.#letGo(this.disposed ? undefined : this.streamFor({ stream }));
  }

  /**
   * Gives the address away: from here on the memory is the caller's to give back, and nothing here
   * can be used any more, nor can its views. Work queued on it still runs: wait for it first.
   *
   * It is the address that the `memoryResource` takes back, also through `fromHandle()`. The driver's
   * own call takes it where the resource has it straight from the driver; for mapped memory that call
   * takes the resource's `hostAddress()` of it.
   *
   * @throws TypeError for a view, and while a transfer in pieces or a graph uses it.
   */
  release(): bigint {
    if (this.disposed) throw new DisposedError(this.toString());
    if (this.isView) {
      throw new TypeError(
        `Cannot release ${this}: it is a view; release the buffer that owns the memory`,
      );
    }
    return this.#allocation.giveAway();
  }

  /** Same as {@link MemoryWindow.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Same as {@link MemoryWindow.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
    return Promise.resolve();
  }

  /** Names the buffer: `DeviceBuffer(weights, float32[2, 3])`. */
  toString(): string {
    const shape = formatShape(this.dtype, this.shape);
    return `${this.constructor.name}(${nameOf(this.#allocation)}, ${shape})`;
  }

  /** Shows the buffer on a console. */
  [Symbol.for("Deno.customInspect")](): string {
    if (this.disposed) return `${this} disposed`;
    const where = `device ${this.deviceOrdinal}`;
    return `${this} ${formatBytes(this.byteLength)} on ${where}${this.isView ? ", view" : ""}`;
  }

  /** Changes which elements it shows, for kinds that grow and shrink. */
  protected showElements(shape: Shape): void {
    this.#shape = shape;
    this.#length = countOf(shape);
    this.#byteLength = this.#length * elementBytes(this.dtype);
  }

  /** What a view of the same memory starts from; checked. */
  protected fields(): BufferFields<D> {
    if (this.disposed) throw new DisposedError(this.toString());
    const { dtype, shape, byteOffset } = this;
    const [allocation, token] = [this.#allocation, this.#token];
    return { allocation, token, dtype, shape, byteOffset, isView: true };
  }

  /** The stream that options name, checked, or the device's default. */
  protected streamFor(options: StreamChoice): CudaStream {
    return streamOn(this.context, options, this);
  }

  #letGo(stream: CudaStream | undefined): void {
    if (this.isView) this.#viewDisposed = true;
    else this.#allocation.release(stream);
  }
}
