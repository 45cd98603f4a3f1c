// What every kind of buffer has: a type, a shape, an identity, views, and queued copies and fills.

import type { Context } from "../context.ts";
import { type DType, elementBytes, type ScalarOf } from "../dtype.ts";
import { DisposedError } from "../errors.ts";
import { formatBytes } from "../format.ts";
import { type LiveKind, nameOf, nextId } from "../ledger.ts";
import type { Allocation } from "../memory/allocation.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { CudaStream } from "../stream.ts";
import { type MemorySpan, queueCopy, queueFill } from "../transfer/copy.ts";
import { elementOf } from "./element.ts";
import { countOf, formatShape, resolveRange, type Shape, toShape } from "./shape.ts";

/** On which stream to queue work. */
export interface StreamChoice {
  /** The stream; the device's default stream when left out. */
  readonly stream?: CudaStream | undefined;
}

/** What a buffer or a view is made of. */
export interface BufferFields<D extends DType> {
  /** The block of memory. */
  readonly allocation: Allocation;
  /** Lives exactly as long as something can still reach the block; its collection frees it. */
  readonly token: object;
  /** The element type. */
  readonly dtype: D;
  /** Sizes along each axis. */
  readonly shape: Shape;
  /** Where the first element lies, in bytes from the start of the block. */
  readonly byteOffset: number;
  /** Whether disposing it leaves the block alone. */
  readonly isView: boolean;
}

/** Typed memory that the GPU can reach, or a view of a part of it. */
export abstract class GpuBuffer<D extends DType = DType> implements Disposable, AsyncDisposable {
  /** This value's number, never used again; a view has its own. */
  readonly id: number = nextId();
  /** The element type. */
  readonly dtype: D;
  /** Sizes along each axis, outermost first. */
  readonly shape: Shape;
  /** How many elements. */
  readonly length: number;
  /** Its size in bytes. */
  readonly byteLength: number;
  /** Where it starts, in bytes from the start of its block. */
  readonly byteOffset: number;
  /** Whether it shows memory of another buffer; disposing a view frees nothing. */
  readonly isView: boolean;
  readonly #allocation: Allocation;
  readonly #token: object;
  #viewDisposed = false;

  /** Adopts memory. */
  constructor(fields: BufferFields<D>) {
    const { allocation, token, dtype, shape, byteOffset, isView } = fields;
    this.dtype = dtype;
    this.shape = shape;
    this.length = countOf(shape);
    this.byteLength = this.length * elementBytes(dtype);
    this.byteOffset = byteOffset;
    this.isView = isView;
    this.#allocation = allocation;
    this.#token = token;
  }

  /** Makes a buffer of the same kind over the same block. */
  protected abstract derive<E extends DType>(fields: BufferFields<E>): GpuBuffer<E>;

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
    const { byteLength } = this;
    const address = byteLength === 0 ? 0n : allocation.address + BigInt(this.byteOffset);
    return { allocation, address, byteLength };
  }

  /**
   * Shows one row: the part at `index` along the outermost axis, without a copy.
   *
   * @throws RangeError when there is no such row; a negative index counts from the end.
   */
  view(index: number): this {
    const [rows, ...shape] = this.shape;
    const row = index < 0 ? index + (rows ?? 0) : index;
    if (rows === undefined || !Number.isInteger(row) || row < 0 || row >= rows) {
      throw new RangeError(
        `Cannot view row ${index} of ${this}: expected a whole number below ${rows ?? 0}`,
      );
    }
    return this.#window(row * countOf(shape), toShape(shape));
  }

  /** Shows elements `start` to `end` of the flat buffer, by TypedArray.subarray's rules; no copy. */
  subarray(start?: number, end?: number): this {
    const range = resolveRange(this.length, { start, end });
    return this.#window(range.start, toShape(range.end - range.start));
  }

  /**
   * Shows the same elements in another shape, without a copy.
   *
   * @throws RangeError when the shape has another number of elements.
   */
  reshape(shape: number | Shape): this {
    const sizes = toShape(shape);
    if (countOf(sizes) !== this.length) {
      throw new RangeError(
        `Cannot reshape ${this} to [${sizes.join(", ")}]: ${this.length} elements are not ` +
          `${countOf(sizes)}`,
      );
    }
    return this.#window(0, sizes);
  }

  /**
   * Shows the same bytes as another element type, flat unless the sizes match, without a copy.
   *
   * @throws RangeError when the bytes are not a whole number of elements, or are misaligned for them.
   */
  as<E extends DType>(dtype: E): GpuBuffer<E> {
    const bytes = elementBytes(dtype);
    if (this.byteLength % bytes !== 0 || this.byteOffset % bytes !== 0) {
      throw new RangeError(
        `Cannot view ${this} as ${dtype}: ${this.byteLength} bytes at offset ${this.byteOffset} ` +
          `do not divide into elements of ${bytes} bytes`,
      );
    }
    const shape = bytes === elementBytes(this.dtype) ? this.shape : [this.byteLength / bytes];
    return this.derive({ ...this.#fields(), dtype, shape: toShape(shape) });
  }

  /** Splits the flat buffer in two views at an element: `[0, at)` and `[at, length)`. */
  split(at: number): [this, this] {
    if (!Number.isInteger(at) || at < 0 || at > this.length) {
      throw new RangeError(`Cannot split ${this} at ${at}: expected 0 to ${this.length}`);
    }
    return [this.subarray(0, at), this.subarray(at)];
  }

  /** Walks the flat buffer in views of `length` elements; the last one may be shorter. */
  *chunks(length: number): Generator<this, void, undefined> {
    if (!Number.isInteger(length) || length <= 0) {
      throw new RangeError(`Cannot walk ${this} in chunks of ${length}: expected at least 1`);
    }
    for (let start = 0; start < this.length; start += length) {
      yield this.subarray(start, start + length);
    }
  }

  /**
   * Queues a copy from another buffer and does not wait. Both blocks stay until it is done, also
   * when they are disposed meanwhile (cuMemcpyAsync).
   *
   * @throws TypeError when the element types differ; use `as()` to copy bytes.
   * @throws RangeError when the sizes differ.
   */
  copyFrom(source: GpuBuffer<D>, options: StreamChoice = {}): this {
    if (!(source instanceof GpuBuffer)) {
      throw new TypeError(
        `Cannot queue a copy from an ordinary array into ${this}: its memory could move on before ` +
          `the GPU reads it; await upload(), or copy from a pinned buffer`,
      );
    }
    if (source.dtype !== this.dtype) {
      throw new TypeError(`Cannot copy ${source} into ${this}: element types differ, use as()`);
    }
    queueCopy(this.span, source.span, this.streamFor(options));
    return this;
  }

  /** Queues a copy into another buffer and does not wait; see {@link GpuBuffer.copyFrom}. */
  copyTo(destination: GpuBuffer<D>, options: StreamChoice = {}): this {
    if (!(destination instanceof GpuBuffer)) {
      throw new TypeError(
        `Cannot queue a copy from ${this} into an ordinary array: await download(), or copy to a ` +
          `pinned buffer`,
      );
    }
    destination.copyFrom(this, options);
    return this;
  }

  /**
   * Queues setting every element to `value` on the device and does not wait.
   *
   * @throws TypeError when the value does not fit the element type.
   */
  fill(value: ScalarOf<D> | boolean, options: StreamChoice = {}): this {
    queueFill(this.span, elementOf(this.dtype, value), this.streamFor(options));
    return this;
  }

  /** Queues setting every byte to zero and does not wait (cuMemsetD8Async). */
  clear(options: StreamChoice = {}): this {
    queueFill(this.span, Uint8Array.of(0), this.streamFor(options));
    return this;
  }

  /** Gives the memory back after the work queued on it; a view only lets go of it. */
  dispose(): void {
    this.#release(undefined);
  }

  /** Gives the memory back in the order of `stream` instead of the one it was made on. */
  close(stream: CudaStream): void {
    this.#release(this.disposed ? undefined : this.streamFor({ stream }));
  }

  /** Same as {@link GpuBuffer.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Same as {@link GpuBuffer.dispose}, for `await using`. */
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

  /** The stream to use: the given one, checked, or the device's default. */
  protected streamFor({ stream }: StreamChoice): CudaStream {
    if (stream === undefined) return CudaStream.default(this.context);
    if (stream.context !== this.context) {
      throw new TypeError(
        `Cannot use ${this} of device ${this.deviceOrdinal} on ${stream} of device ` +
          `${stream.context.ordinal}: use a stream of the same device`,
      );
    }
    return stream;
  }

  #release(stream: CudaStream | undefined): void {
    if (this.isView) this.#viewDisposed = true;
    else this.#allocation.release(stream);
  }

  #window(start: number, shape: Shape): this {
    const byteOffset = this.byteOffset + start * elementBytes(this.dtype);
    return this.derive({ ...this.#fields(), byteOffset, shape }) as this;
  }

  #fields(): BufferFields<D> {
    if (this.disposed) throw new DisposedError(this.toString());
    return {
      allocation: this.#allocation,
      token: this.#token,
      dtype: this.dtype,
      shape: this.shape,
      byteOffset: this.byteOffset,
      isView: true,
    };
  }
}
