// The base class of all buffers: shape, transfers, views, queued copies and fills, single elements, and
// disposal. Each kind of memory adds its own methods in a file of its own.

import { nextId } from "../accounting/clock.ts";
import { type LiveKind, nameOf } from "../accounting/ledger.ts";
import {
  checkLengths,
  MEMORY,
  type MemorySpan,
  partOf,
  queueCopy,
  streamForCopy,
} from "../copies/copy.ts";
import { queueFill, ZERO_BYTE } from "../copies/fill.ts";
import { type FilePath, pathOf } from "../disk/file_path.ts";
import {
  DLPACK_OPTIONS,
  type DLPackOptions,
  type DLPackTensor,
  makeTensor,
} from "../dlpack/dlpack_tensor.ts";
import type { Context } from "../driver/context.ts";
import {
  type ArrayOf,
  DTYPE,
  type DType,
  DTYPE_NAMES,
  elementBytes,
  type HostValue,
  insideByte,
  packLength,
  type ScalarOf,
} from "../dtype.ts";
import { KERNEL_MEMORY, type KernelMemory, reaches } from "../launch/kernel_memory.ts";
import type { Allocation } from "../memory/allocation.ts";
import { bytesOf, type HostMemory, moving } from "../memory/host_memory.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { isStripedOver } from "../memory/striped_memory_resource.ts";
import { saveNpyFile } from "../numpy/save_npy.ts";
import { watch } from "../order/safety_net.ts";
import type { CudaStream } from "../order/stream.ts";
import { STREAM, STREAM_CHOICE, type StreamChoice, streamOn } from "../order/stream_choice.ts";
import { type HandedOver, handOverMemory } from "../sharing/hand_over.ts";
import { shareMemory } from "../sharing/share_memory.ts";
import type { MemoryTicket } from "../ticket.ts";
import { ArrayPlace } from "../transfer/array_uses.ts";
import { writeFileFrom } from "../transfer/file_transfer.ts";
import {
  finishWritesInto,
  type HostSide,
  type HostTransfer,
  transfer,
  transferSync,
} from "../transfer/host_transfer.ts";
import { WRITING_KINDS, type WritingOptions } from "../transfer/produce_file.ts";
import {
  TRANSFER_CHOICE,
  TRANSFER_KINDS,
  type TransferChoice,
} from "../transfer/transfer_choice.ts";
import { readableFrom, wholeOf, writableInto } from "../transfer/web_streams.ts";
import { DisposedError } from "../words/errors.ts";
import { finished, finishedLater } from "../words/finished.ts";
import { describeValue, formatBytes } from "../words/format.ts";
import { NUMBER, type OptionKind, OptionSet, requireKind } from "../words/options.ts";
import { Owned } from "../words/owned.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { UNCLONEABLE, UNCLONEABLE_FIELD } from "../words/uncloneable.ts";
import { COMPUTE_HELP, notOnGpu, refuseIndices, textOf } from "./array_habits.ts";
import { queuePattern, queueRepeats } from "./byte_pattern.ts";
import { checksumOf, firstDifferentByte } from "./comparison.ts";
import { CONVERT, type NamedLayout, queueConversion } from "./conversion.ts";
import { elementBitsOf, elementOf, elementsOf, otherType, scalarsIn } from "./element.ts";
import { hostDestination, hostSource, patternBytes } from "./host_elements.ts";
import { type BufferImage, drawImage, IMAGE_OPTIONS, type ImageOptions } from "./image.ts";
import {
  type BufferRequest,
  PLACE_KINDS,
  PLACE_OPTIONS,
  type PlaceOptions,
} from "./place_options.ts";
import type { BUFFER_KIND, Retyped } from "./retyped.ts";
import { countOf, formatShape, type Shape, toShape } from "./shape.ts";
import { StridedView } from "./strided_view.ts";
import { contiguousStrides, STRIDED_LAYOUT, type StridedLayout, transposed } from "./strides.ts";
import { type BufferSummary, magnitudesIn, summarise } from "./summary.ts";
import {
  checkChunk,
  checkSplit,
  elementIndex,
  rangeOf,
  rejectAxes,
  reshaped,
  rowAt,
  rowsOf,
  shapeAs,
  viewNameOf,
  type ViewPlace,
} from "./views.ts";

/** Parts of a buffer or a view. */
export interface BufferFields<D extends DType> {
  readonly allocation: Allocation;
  /** For a view: the buffer that owns the block, which the view keeps alive. */
  readonly owner?: GpuBuffer | undefined;
  readonly dtype: D;
  readonly shape: Shape;
  /** Offset of the first element in bytes, from the start of the block; 0 by default. */
  readonly byteOffset?: number | undefined;
}

/** Options for {@link GpuBuffer.allocateLike} and {@link GpuBuffer.slice}. */
export interface LikeOptions extends PlaceOptions {}

/** Options for {@link GpuBuffer.astype} to elements of `E`, into a buffer of type `B` or a new one. */
export interface AsTypeOptions<E extends DType = DType, B = GpuBuffer<E> | undefined>
  extends LikeOptions {
  /**
   * A buffer or a view that takes the elements, instead of a new buffer. Elements for a view with gaps
   * go through one.
   */
  readonly into?:
    | (B & (GpuBuffer<E> | StridedView<E>)) // for functions where `B` is a parameter
    | (B extends GpuBuffer<E> | StridedView<E> | undefined ? B
      : GpuBuffer<E> | StridedView<E> | undefined);
}

const BUFFER: OptionKind = {
  expected: "a buffer, or a view of one",
  accepts: (value) => value instanceof GpuBuffer || value instanceof StridedView,
};

const AS_TYPE_OPTIONS = new OptionSet<AsTypeOptions>({ ...PLACE_KINDS, into: BUFFER });

/**
 * Host memory that a buffer of `D` accepts, over ordinary or shared memory: its typed array, one
 * that holds its bits, or raw bytes. Float32Array narrows to smaller floats and widens from them.
 */
export type Uploadable<D extends DType> =
  | (
    & {
      float16:
        | Float16Array<ArrayBufferLike>
        | Float32Array<ArrayBufferLike>
        | Uint16Array<ArrayBufferLike>;
      float32: Float32Array<ArrayBufferLike>;
      float64: Float64Array<ArrayBufferLike>;
      int8: Int8Array<ArrayBufferLike>;
      int16: Int16Array<ArrayBufferLike>;
      int32: Int32Array<ArrayBufferLike>;
      int64: BigInt64Array<ArrayBufferLike>;
      uint8: Uint8Array<ArrayBufferLike> | Uint8ClampedArray<ArrayBufferLike>;
      uint16: Uint16Array<ArrayBufferLike>;
      uint32: Uint32Array<ArrayBufferLike>;
      uint64: BigUint64Array<ArrayBufferLike>;
      bool: Uint8Array<ArrayBufferLike> | Uint8ClampedArray<ArrayBufferLike>;
      complex64: Float32Array<ArrayBufferLike>;
      bfloat16: Float32Array<ArrayBufferLike> | Uint16Array<ArrayBufferLike>;
    }
    & Record<
      Extract<DType, `float${4 | 6 | 8}_${string}`>,
      Float32Array<ArrayBufferLike> | Uint8Array<ArrayBufferLike>
    >
  )[D]
  | ArrayOf<D>
  | DataView
  | ArrayBuffer
  | SharedArrayBuffer;

/** Options for {@link GpuBuffer.writeFile}. */
export interface WriteFileOptions extends TransferChoice, WritingOptions {
  /** Offset of the bytes in the file. Without one they replace the whole file. */
  readonly fileOffset?: number | undefined;
}

const WRITE_FILE_OPTIONS = new OptionSet<WriteFileOptions>({
  ...TRANSFER_KINDS,
  ...WRITING_KINDS,
  fileOffset: NUMBER,
});

/** Options for {@link GpuBuffer.saveNpy}. */
export interface SaveNpyOptions extends TransferChoice, WritingOptions {}

const SAVE_NPY_OPTIONS = new OptionSet<SaveNpyOptions>({ ...TRANSFER_KINDS, ...WRITING_KINDS });

/**
 * The name of the method by which each kind allocates another buffer like itself. It is a symbol,
 * so that editors and notebooks do not list it.
 */
export const ALLOCATE_LIKE: unique symbol = Symbol("allocateLike");

/** Returns the block of a buffer, for cards: looking at it does not count as a use. */
export let blockOf: (buffer: GpuBuffer) => Allocation;

/** Returns the buffer that owns the block of a buffer; for a view that is another buffer. */
export let ownerOf: (buffer: GpuBuffer) => GpuBuffer;

/** Changes which elements a buffer shows, for kinds that grow and shrink. */
export let showElements: (buffer: GpuBuffer, shape: Shape) => void;

/** Returns the stream that the options name, checked, or the device's default. */
export function streamFor(buffer: GpuBuffer, options: StreamChoice): CudaStream {
  return streamOn(buffer.context, options, buffer);
}

/** Returns the stream of a fill; for memory over several devices it may belong to any of them. */
function fillStreamFor(buffer: GpuBuffer, options: StreamChoice): CudaStream {
  const { stream } = options;
  const isOfOther = stream !== undefined && stream.context !== buffer.context &&
    isStripedOver(buffer.memoryResource, stream.context);
  return isOfOther ? stream : streamFor(buffer, options);
}

/**
 * Uploads an array into a buffer that is still to be allocated. Calls that use the array meanwhile come
 * after the upload, although it waits for memory.
 */
export async function uploadLate<D extends DType, B extends GpuBuffer<D>>(
  coming: Promise<B>,
  source: Uploadable<D>,
  options: TransferChoice & { readonly stream: CudaStream },
): Promise<B> {
  const { stream, onProgress, signal } = options;
  const memory = bytesOf(source, "upload");
  using place = new ArrayPlace([{ memory, access: "read" }], stream);
  return await finishedLater(coming, async (buffer) => {
    await place.isFirst;
    const host = hostSource(buffer, source, moving("upload to", buffer));
    const task = { stream, span: buffer[MEMORY](), host, onProgress, signal, isPlaced: true };
    await transfer({ direction: "upload", ...task });
  });
}

/** Typed memory that the GPU can reach, or a view of a part of it. */
export abstract class GpuBuffer<D extends DType = DType> extends Owned implements KernelMemory {
  /** @ignore Its kind, for types. */
  declare readonly [BUFFER_KIND]: string;
  /** Refuses clones of it. */
  protected readonly [UNCLONEABLE_FIELD]: symbol = UNCLONEABLE;
  /** This value's number, never used again; a view has its own. */
  readonly id: number = nextId();
  /** The element type. */
  readonly dtype: D;
  /** Offset of the first element in bytes, from the start of its block. */
  readonly byteOffset: number;
  /** It shows memory of another buffer; disposing a view frees nothing. */
  readonly isView: boolean;
  readonly #allocation: Allocation;
  /** The parts that it was made from, including those that its kind adds; its views share them. */
  readonly #fields: BufferFields<D>;
  /** The buffer whose garbage collection frees the block. */
  readonly #owner: GpuBuffer;
  #shape: Shape;
  #length: number;
  #byteLength: number;
  #viewDisposed = false;

  static {
    blockOf = (buffer) => buffer.#allocation;
    ownerOf = (buffer) => buffer.#owner;
    showElements = (buffer, shape) => {
      buffer.#shape = shape;
      buffer.#length = countOf(shape);
      buffer.#byteLength = buffer.#length * elementBytes(buffer.dtype);
    };
    refuseIndices(GpuBuffer.prototype, {
      read: "it is on the GPU; use await x.at(i), or await x.download() for many",
      write: "it is on the GPU; use await x.setAt(i, value), or upload() for many",
    });
  }

  /**
   * @ignore Adopts memory, which is freed when the buffer is collected, or shows memory of its
   * owner.
   */
  constructor(parts: Parts<BufferFields<D>>) {
    super();
    const fields = partsOf(parts, new.target);
    const { allocation, owner = this, dtype, shape, byteOffset = 0 } = fields;
    this.dtype = dtype;
    this.#shape = shape;
    this.#length = countOf(shape);
    this.#byteLength = this.#length * elementBytes(dtype);
    if (this.#byteLength % 1 !== 0) throw insideByte(dtype, `view ${formatShape(dtype, shape)}`);
    this.byteOffset = byteOffset;
    this.isView = owner !== this;
    this.#fields = fields;
    this.#allocation = allocation;
    this.#owner = owner;
    if (owner === this) watch(this, allocation);
  }

  /** Sizes along each axis, outermost first. */
  get shape(): Shape {
    return this.#shape;
  }

  /** Number of elements. */
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

  /** Kind of memory. */
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

  /** The resource that its memory came from. */
  get memoryResource(): MemoryResource {
    return this.#allocation.resource;
  }

  /** Tells whether the GPU can use it. */
  get isDeviceAccessible(): boolean {
    return this.memoryResource.isDeviceAccessible;
  }

  /** Tells whether the CPU can use it. */
  get isHostAccessible(): boolean {
    return this.memoryResource.isHostAccessible;
  }

  /** Tells whether it was disposed, or its memory was. */
  get disposed(): boolean {
    return this.#viewDisposed || this.#allocation.released;
  }

  /** The address for kernels and other libraries; 0n when it has no bytes. */
  get ptr(): bigint {
    const { address } = this.span;
    this.#allocation.usage.gate?.handOut();
    return address;
  }

  /** The memory, for copies and kernels; checked. */
  get span(): MemorySpan {
    return this[MEMORY]();
  }

  /** @ignore Returns the memory for a use, checked. */
  [MEMORY](): MemorySpan {
    const allocation = this.#allocation;
    if (this.#viewDisposed || allocation.released) this.#requireUsable();
    const { byteOffset } = this;
    const byteLength = this.#byteLength;
    if (byteLength === 0) return { allocation, address: 0n, byteLength };
    const start = allocation.address;
    // Adding makes a new bigint, which costs more than everything else here.
    const address = byteOffset === 0 ? start : start + BigInt(byteOffset);
    return { allocation, address, byteLength };
  }

  /**
   * Returns the memory for a kernel.
   *
   * @throws TypeError when the GPU cannot use it.
   * @ignore
   */
  [KERNEL_MEMORY](): MemorySpan {
    if (this.isDeviceAccessible) return this[MEMORY]();
    throw new TypeError("the GPU cannot use that memory; copy it into device memory first");
  }

  /**
   * Copies host memory into the buffer; resolves when it is there. Whatever is called later and uses
   * the same memory comes after it, awaited or not. Leave the array alone until it resolves: when it
   * is moved away (transferred to a worker, say) meanwhile, this rejects with a TypeError.
   *
   * @throws TypeError for an array of another element type; pass its `buffer`, or a DataView, to copy
   *   the bytes.
   * @throws RangeError when the array is longer or shorter than the buffer.
   */
  upload(source: ArrayOf<D>, options?: TransferChoice): Promise<this>;
  /** Copies other host memory into the buffer: an array that holds the same bits, or bytes. */
  upload(source: Uploadable<D>, options?: TransferChoice): Promise<this>;
  async upload(source: Uploadable<D>, options: TransferChoice = {}): Promise<this> {
    options = TRANSFER_CHOICE.read(options, "upload");
    const host = hostSource(this, source, moving("upload to", this));
    const pending = transfer(this.#task("upload", host, options));
    if (pending !== undefined) await pending;
    return this;
  }

  /** Copies host memory into the buffer; blocks until the copy and everything before it is done. */
  uploadSync(source: ArrayOf<D>, options?: StreamChoice): this;
  /** Copies other host memory into the buffer, and blocks as well. */
  uploadSync(source: Uploadable<D>, options?: StreamChoice): this;
  uploadSync(source: Uploadable<D>, options: StreamChoice = {}): this {
    options = STREAM_CHOICE.read(options, "uploadSync");
    const host = hostSource(this, source, moving("upload to", this));
    transferSync(this.#task("upload", host, options));
    return this;
  }

  /**
   * Copies the elements into a new typed array (bfloat16 as Float32Array). It shows the effects of all
   * calls before this one, and of none after it.
   *
   * @throws CudaError when work on the buffer that was queued before has failed.
   */
  download(destination?: undefined, options?: TransferChoice): Promise<ArrayOf<D>>;
  /**
   * Copies the elements into `destination`, and resolves with it.
   *
   * @throws TypeError for an array of another element type.
   * @throws RangeError when the array is longer or shorter than the buffer.
   */
  download<T extends Uploadable<D>>(destination: T, options?: TransferChoice): Promise<T>;
  /** Copies the elements into `destination`, or into a new typed array, and resolves with it. */
  download<T extends Uploadable<D>>(
    destination: T | undefined,
    options?: TransferChoice,
  ): Promise<T | ArrayOf<D>>;
  async download(destination?: HostMemory, options: TransferChoice = {}): Promise<HostMemory> {
    options = TRANSFER_CHOICE.read(options, "download");
    const host = hostDestination(this, destination, moving("download from", this));
    const pending = transfer(this.#task("download", host, options));
    if (pending !== undefined) await pending;
    return host.result();
  }

  /** Copies the elements into a new typed array and blocks until they are there. */
  downloadSync(destination?: undefined, options?: StreamChoice): ArrayOf<D>;
  /** Copies the elements into `destination` and blocks until they are there. */
  downloadSync<T extends Uploadable<D>>(destination: T, options?: StreamChoice): T;
  /** Copies the elements into `destination`, or into a new typed array; blocks until they are there. */
  downloadSync<T extends Uploadable<D>>(
    destination: T | undefined,
    options?: StreamChoice,
  ): T | ArrayOf<D>;
  downloadSync(destination?: HostMemory, options: StreamChoice = {}): HostMemory {
    options = STREAM_CHOICE.read(options, "downloadSync");
    const host = hostDestination(this, destination, moving("download from", this));
    transferSync(this.#task("download", host, options));
    return host.result();
  }

  /**
   * Writes the bytes into a file, straight from page-locked memory; resolves when they are there.
   * Needs `--allow-write`. Without an offset a new file replaces the old one once it is complete.
   * Until then, and when anything fails, the old file stays as it was.
   *
   * @throws TypeError when it is a folder or a pipe, or a device without `inPlace`.
   */
  async writeFile(path: FilePath, options: WriteFileOptions = {}): Promise<void> {
    options = WRITE_FILE_OPTIONS.read(options, "writeFile");
    pathOf(path); // refuses other values before a lazy buffer takes its memory
    await writeFileFrom({
      ...options,
      path,
      span: this[MEMORY](),
      stream: streamFor(this, options),
    });
  }

  /**
   * Saves the elements as a .npy file, which Python's numpy loads; resolves when the file is
   * complete. Needs `--allow-write`. Until then, and when anything fails, an old file stays as it
   * was. bfloat16 and 8-bit floats are written as numpy writes those of the package ml_dtypes, which
   * JAX reads; numpy by itself needs `astype("float32")`.
   *
   * @throws TypeError for more than 64 axes, and for packed elements.
   */
  async saveNpy(path: FilePath, options: SaveNpyOptions = {}): Promise<void> {
    options = SAVE_NPY_OPTIONS.read(options, "saveNpy");
    const { dtype, shape } = this;
    const span = this[MEMORY]();
    await saveNpyFile({ ...options, path, span, dtype, shape, stream: streamFor(this, options) });
  }

  /**
   * A new stream of the buffer's bytes, for files, responses and compressors. Each chunk of 1 MiB
   * is copied when it is read, with the contents of that moment. When the buffer is disposed
   * meanwhile, its memory is kept until the stream ends, is cancelled or is collected.
   */
  get readable(): ReadableStream<Uint8Array<ArrayBuffer>> {
    this.#requireUsable();
    return readableFrom(this, this.#allocation, streamFor(this, {}));
  }

  /**
   * A new stream whose bytes fill the buffer from its start, in constant host memory. Closing it
   * waits until they are there, and fails with a RangeError when they are fewer or more than the
   * buffer has.
   */
  get writable(): WritableStream<HostMemory> {
    this.#requireUsable();
    return writableInto(wholeOf(this, streamFor(this, {})));
  }

  /**
   * Makes a DLPack struct of the elements for another library of this process, without a copy. The
   * memory is kept until the library calls the struct's deleter, even when the buffer is disposed
   * before. The library's stream waits for what is queued here so far.
   *
   * @throws TypeError while a graph is being captured, and for read-only memory when the struct is
   *   to have no version.
   * @throws RangeError for more than 64 axes, which no library takes.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using x = await gpu.upload(new Float32Array([1, 2, 3]));
   * const struct = x.toDLPack().release(); // an address, for a library that consumes DLPack
   * using y = gpu.fromDLPack(struct, { dtype: "float32" });
   * console.log(await y.download()); // Float32Array(3) [1, 2, 3]
   * ```
   */
  toDLPack(options: DLPackOptions = {}): DLPackTensor {
    options = DLPACK_OPTIONS.read(options, "toDLPack");
    const { copy = false } = options;
    if (!copy) return this.#tensor(options);
    using made = this.allocateLike();
    return made.copyFrom(this).#tensor(options);
  }

  /**
   * Describes the values: lowest, highest, mean, deviation, quartiles and a histogram. When there
   * are more than 65,536 elements, a sample is copied to the host, in pieces spread evenly over the
   * buffer, and `meanError` says how far the mean may be off. Of complex numbers it describes the
   * magnitudes.
   */
  async describe(options: TransferChoice = {}): Promise<BufferSummary> {
    options = TRANSFER_CHOICE.read(options, "describe");
    const { dtype, shape, length } = this;
    return await summarise({
      name: viewNameOf(this) ?? nameOf(this.#allocation),
      type: formatShape(dtype, shape),
      length,
      read: async (start, end) => {
        return magnitudesIn(dtype, await this.subarray(start, end).download(undefined, options));
      },
    });
  }

  /**
   * Draws the elements as a picture, which a notebook shows: rows and columns of numbers in colours,
   * or with 3 or 4 channels as the last axis; of complex numbers the magnitudes. Of a large buffer at
   * most 512 rows and columns are copied to the host.
   *
   * @throws RangeError when a buffer of this shape is no picture.
   */
  async showImage(options: ImageOptions = {}): Promise<BufferImage> {
    const { dtype, shape, label = this.constructor.name } = this;
    const view = this.strided();
    const source = { name: viewNameOf(this) ?? label, words: `${this}`, dtype, shape, view };
    return await drawImage(source, IMAGE_OPTIONS.read(options, "showImage"));
  }

  /**
   * Shows one row: the part at `index` along the outermost axis, without a copy.
   *
   * @throws RangeError when there is no such row; a negative index counts from the end.
   */
  view(index: number): this;
  view(index: number, second?: unknown): this {
    if (second !== undefined) rejectAxes(this, "view", [index, second]);
    return this.#show(rowAt(this, index));
  }

  /**
   * Shows rows `start` to `end` along the outermost axis, without a copy, by TypedArray.subarray's
   * rules: `x.rows(32, 64)` is Python's `x[32:64]`, and what lies outside of the buffer is left out.
   * `strided({ shape, offset })` is the strict way, which refuses it. Parts of other axes are
   * `strided().range()`.
   *
   * @throws RangeError when the buffer has no axis.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using x = gpu.iota("float32", [5, 2]);
   * const batch = x.rows(1, 3);
   * console.log(batch.shape, await batch.download()); // [ 2, 2 ] Float32Array(4) [ 2, 3, 4, 5 ]
   * ```
   */
  rows(start?: number, end?: number): this {
    return this.#show(rowsOf(this, { start, end }));
  }

  /**
   * Shows elements `start` to `end` of the flat buffer, by TypedArray.subarray's rules: what lies outside
   * is left out, without an error. `strided({ shape: [length], offset })` refuses it. No copy.
   *
   * @throws RangeError for packed elements that begin or end inside a byte; so do all other views.
   */
  subarray(start?: number, end?: number): this {
    return this.#show(rangeOf(this, { start, end }));
  }

  /**
   * Copies elements `start` to `end` of the flat buffer into a new buffer of the same kind, by
   * TypedArray.slice's rules, which leave out what lies outside; without a range, all elements in the
   * buffer's shape. The copy is
   * queued; the buffer is the caller's to dispose.
   */
  slice(start?: number, end?: number, options: LikeOptions = {}): this {
    options = PLACE_OPTIONS.read(options, "slice");
    const { stream } = options;
    const isWhole = start === undefined && end === undefined;
    const part = isWhole ? this : this.subarray(start, end);
    return finished(
      this.allocateLike(part.shape, options),
      (copy) => copy.copyFrom(part, { stream }),
    );
  }

  /**
   * Copies the elements into new memory of another device, or of the same one, in the buffer's shape.
   * The copy is queued, straight from device to device where they reach each other
   * (cuMemcpyPeerAsync), and through the host where not; the result is the caller's to dispose.
   *
   * @throws TypeError for anything but a device: another element type is {@link GpuBuffer.astype}.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using other = CudaDevice.open(gpu.context.driver.deviceCount - 1, { driver: "auto" });
   * using x = await gpu.upload([[1, 2], [3, 4]]);
   * using y = x.to(other);
   * console.log(y.shape, await y.download()); // [ 2, 2 ] Float32Array(4) [ 1, 2, 3, 4 ]
   * ```
   */
  to<B extends GpuBuffer<D>>(
    gpu: { alloc(dtype: D, shape: Shape, options?: PlaceOptions): B },
    options: PlaceOptions = {},
  ): B {
    options = PLACE_OPTIONS.read(options, "to");
    if (typeof Object(gpu).alloc !== "function") {
      const hint = (DTYPE_NAMES as readonly unknown[]).includes(gpu)
        ? `; astype("${gpu}") converts`
        : "";
      throw new TypeError(
        `Cannot copy ${this} to ${describeValue(gpu)}: expected a device, as CudaDevice.open() ` +
          `returns it${hint}`,
      );
    }
    this.#requireUsable();
    const copy = gpu.alloc(this.dtype, this.shape, options);
    return finished(copy, (made) => made.copyFrom(this, { stream: options.stream }));
  }

  /**
   * Shows the same elements in another shape, without a copy; a size of -1 stands for the rest.
   *
   * @throws RangeError when the shape has another number of elements.
   */
  reshape(shape: number | Shape): this;
  reshape(shape: number | Shape, second?: unknown): this {
    if (second !== undefined) rejectAxes(this, "reshape", [shape, second]);
    return this.#show(reshaped(this, shape));
  }

  /**
   * Shows the same bytes as another element type, flat unless the sizes match, without a copy.
   *
   * @throws RangeError when the bytes are not a whole number of elements, or are misaligned for them.
   */
  as<E extends DType>(dtype: E): Retyped<this, E> {
    const place = { dtype, shape: shapeAs(this, dtype), byteOffset: this.byteOffset };
    return this.#derive(place) as Retyped<this, E>;
  }

  /**
   * Queues converting the elements to another type on the GPU, into a new buffer of the same kind, and
   * does not wait. Floats are rounded once, to nearest even, and what is too large becomes infinite,
   * or NaN or the largest number where the type lacks the first; NaN stays NaN where there is one. Of
   * complex numbers the real part is converted. Conversion to whole numbers cuts off the fraction, and
   * whole numbers keep their lowest bits, as in JavaScript's typed arrays. As bool, every value but 0 is
   * true.
   *
   * With `{ into }` the elements go into that buffer, which is returned.
   *
   * @throws TypeError when the GPU cannot use the memory, or `into` has another element type.
   * @throws RangeError when `into` has another shape, or shares bytes with this one.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using x = await gpu.upload(new Float32Array([1.5, -2.7, 300]));
   * using y = x.astype("int8");
   * console.log(await y.download()); // Int8Array(3) [1, -2, 44]
   * ```
   */
  astype<E extends DType, B = undefined>(
    dtype: E,
    options: AsTypeOptions<NoInfer<E>, B> = {},
  ): B extends object ? B : Retyped<this, E> {
    const { shape } = this;
    const layout = { shape, strides: contiguousStrides(shape), offset: 0, name: this };
    return this[CONVERT](layout, dtype, options) as never;
  }

  /** Splits the flat buffer in two views at an element: `[0, at)` and `[at, length)`. */
  split(at: number): [this, this] {
    checkSplit(this, at);
    return [this.subarray(0, at), this.subarray(at)];
  }

  /** Walks the flat buffer in views of `length` elements; the last one may be shorter. */
  *chunks(length: number): Generator<this, void, undefined> {
    checkChunk(this, length);
    for (let start = 0; start < this.length; start += length) {
      yield this.subarray(start, start + length);
    }
  }

  /**
   * Shows elements at any regular distances, without a copy: padded rows, columns, every second
   * element. Copies from and to the view honour the strides.
   *
   * @throws RangeError when the layout leaves the buffer.
   */
  strided(layout: Partial<StridedLayout> = {}): StridedView<D, this> {
    layout = STRIDED_LAYOUT.read(layout, "strided");
    const shape = layout.shape === undefined ? this.shape : toShape(layout.shape);
    const { strides: chosen, offset = 0 } = layout;
    const strides = Object.freeze(chosen === undefined ? contiguousStrides(shape) : [...chosen]);
    return this.#arrange({ shape, strides, offset });
  }

  /** Shows the axes in another order, reversed by default, without a copy. */
  transpose(order?: readonly number[]): StridedView<D, this> {
    const { shape } = this;
    const layout = { shape, strides: contiguousStrides(shape), offset: 0 };
    return this.#arrange(transposed(layout, order));
  }

  /** Allocates a buffer of the same kind and element type from the same resource. */
  allocateLike(shape: number | Shape = this.shape, options: LikeOptions = {}): this {
    this.#requireUsable();
    const { dtype, memoryResource: resource } = this;
    options = PLACE_OPTIONS.read(options, "allocateLike");
    const { label } = options;
    const stream = streamFor(this, options);
    return this[ALLOCATE_LIKE]({ dtype, shape, resource, stream, label }) as this;
  }

  /**
   * Queues a copy from another buffer or a strided view and does not wait. Both blocks are kept
   * until it is done, even when they are disposed meanwhile (cuMemcpyAsync). Between devices the
   * stream may belong to either; it is the destination's by default (cuMemcpyPeerAsync).
   *
   * @throws TypeError for an ordinary array, and when the element types differ; use `as()` to copy
   *   bytes.
   * @throws RangeError when the sizes differ, or the ranges overlap.
   */
  copyFrom(source: GpuBuffer<D> | StridedView<D>, options: StreamChoice = {}): this {
    options = STREAM_CHOICE.read(options, "copyFrom");
    const { stream } = options;
    if (source instanceof StridedView) {
      this.strided().copyFrom(source, options);
      return this;
    }
    if (!(source instanceof GpuBuffer)) {
      throw new TypeError(`Cannot copy into ${this}: ${notOnGpu("source", source)}`);
    }
    if (source.dtype !== this.dtype) throw otherType(`copy ${source} into ${this}`);
    if (!this.disposed && !source.disposed) checkLengths(this, source);
    const [to, from] = [this[MEMORY](), source[MEMORY]()];
    queueCopy(to, from, streamForCopy(to, from, stream));
    return this;
  }

  /** Queues a copy into another buffer and does not wait; see {@link GpuBuffer.copyFrom}. */
  copyTo(destination: GpuBuffer<D> | StridedView<D>, options: StreamChoice = {}): this {
    options = STREAM_CHOICE.read(options, "copyTo");
    if (!(destination instanceof GpuBuffer) && !(destination instanceof StridedView)) {
      throw new TypeError(`Cannot copy ${this}: ${notOnGpu("destination", destination)}`);
    }
    destination.copyFrom(this, options);
    return this;
  }

  /**
   * Queues setting every element to `value` on the device and does not wait.
   *
   * @throws TypeError when the value is of another kind, such as a number for 64-bit integers.
   * @throws RangeError when the element type does not hold it, such as 300 or 0.5 for uint8.
   */
  fill(value: ScalarOf<D> | HostValue<D>, options: StreamChoice = {}): this {
    options = STREAM_CHOICE.read(options, "fill");
    const bits = elementBitsOf(this.dtype, value);
    if (bits.byteLength === 3) { // four of 6 bits, which no fill of the driver writes
      return this.fillPattern(
        elementsOf(this.dtype, Array(4).fill(value)) as Uploadable<D>,
        options,
      );
    }
    queueFill(this[MEMORY](), bits, fillStreamFor(this, options));
    return this;
  }

  /**
   * Queues filling the buffer with a pattern, repeated from the first element to the last, and does
   * not wait; the last repetition may be cut short.
   *
   * @param pattern A typed array of the buffer's element type, or an ArrayBuffer: up to 1024 bytes,
   *   which the program may change once the call returns; the call blocks while earlier calls write
   *   them. Or a buffer of any size on the GPU.
   * @throws TypeError for other elements, and when the GPU cannot use the buffer's memory.
   * @throws RangeError for a pattern of no bytes, an array of more than 1024, and a buffer that shares
   *   bytes with this one.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using x = gpu.alloc("float32", 7).fillPattern(new Float32Array([1, 2, 3]));
   * console.log(await x.download()); // Float32Array(7) [1, 2, 3, 1, 2, 3, 1]
   * ```
   */
  fillPattern(pattern: Uploadable<D> | GpuBuffer<D>, options: StreamChoice = {}): this {
    options = STREAM_CHOICE.read(options, "fillPattern");
    const action = moving("write a pattern into", this);
    const stream = streamFor(this, options);
    if (pattern instanceof GpuBuffer) {
      if (pattern.dtype !== this.dtype) {
        throw new TypeError(`Cannot ${action}: ${pattern} has other elements, use as()`);
      }
      queueRepeats(this[MEMORY](), { pattern: pattern[MEMORY](), action }, stream);
    } else {
      finishWritesInto(bytesOf(pattern, action), stream, action);
      const bytes = patternBytes(this.dtype, pattern, action);
      queuePattern(this[KERNEL_MEMORY](), { bytes, action }, stream);
    }
    return this;
  }

  /** Queues setting every byte to zero and does not wait (cuMemsetD8Async). */
  clear(options: StreamChoice = {}): this {
    options = STREAM_CHOICE.read(options, "clear");
    queueFill(this[MEMORY](), ZERO_BYTE, fillStreamFor(this, options));
    return this;
  }

  /**
   * Refuses iteration, spreading and `Array.from()`, which would see no elements: they are on the GPU.
   *
   * @throws TypeError always, with the call that reads them.
   */
  [Symbol.iterator](): never {
    throw new TypeError(
      `Cannot iterate over ${this}: its elements are on the GPU; iterate over await x.download()`,
    );
  }

  /**
   * Returns the buffer's name for texts, and refuses to be a number.
   *
   * @throws TypeError in arithmetic and comparisons, which would be NaN and false.
   */
  [Symbol.toPrimitive](hint: string): string {
    return textOf(this, hint, COMPUTE_HELP);
  }

  /**
   * Reads one element of the flat buffer. Slow: a copy and a wait for each call; download the
   * buffer to read many.
   *
   * @throws RangeError when there is no such element; a negative index counts from the end.
   */
  async at(index: number, options: StreamChoice = {}): Promise<ScalarOf<D>> {
    if (typeof options === "number") rejectAxes(this, "at", [index, options]);
    options = STREAM_CHOICE.read(options, "at");
    const place = elementIndex(this, index); // a resize may come before the bytes
    const length = packLength(this.dtype);
    const memory = new Uint8Array(length * elementBytes(this.dtype));
    await this.#moveElement("download", { place, memory }, options);
    return scalarsIn(this.dtype, memory)[place % length] as ScalarOf<D>;
  }

  /**
   * Writes one element of the flat buffer. Slow: a copy and a wait for each call; upload the buffer
   * to write many.
   *
   * @throws TypeError when the value is of another kind than the elements.
   * @throws RangeError when there is no such element, or the element type does not hold the value; a
   *   negative index counts from the end.
   */
  async setAt(
    index: number,
    value: ScalarOf<D> | HostValue<D>,
    options: StreamChoice = {},
  ): Promise<this> {
    options = STREAM_CHOICE.read(options, "setAt");
    const memory = elementOf(this.dtype, value);
    await this.#moveElement("upload", { place: elementIndex(this, index), memory }, options);
    return this;
  }

  /**
   * Reads the only element. Slow: a copy and a wait for each call.
   *
   * @throws RangeError when there is not exactly one.
   */
  async item(options: StreamChoice = {}): Promise<ScalarOf<D>> {
    options = STREAM_CHOICE.read(options, "item");
    if (this.disposed || this.length === 1) return await this.at(0, options);
    throw new RangeError(`Cannot read ${this} as one item: it has ${this.length} elements`);
  }

  /**
   * Tells whether another buffer or view has the same shape and the same bits, compared on the GPU. For
   * floats this differs from `===`: NaN equals itself, and 0 is not -0.
   *
   * @throws TypeError when the element types differ, or the GPU cannot reach one of the two.
   */
  async equals(other: GpuBuffer<D> | StridedView<D>, options: StreamChoice = {}): Promise<boolean> {
    options = STREAM_CHOICE.read(options, "equals");
    if (other instanceof StridedView) {
      this.#requireUsable();
      using packed: GpuBuffer<D> = other.contiguous(options);
      return await this.equals(packed, options);
    }
    this.#requireComparable(other);
    if (other.shape.join() !== this.shape.join()) return false;
    return await this.firstDifference(other, options) === undefined;
  }

  /**
   * Finds the first element of the flat buffer whose bits differ from those of another buffer,
   * compared on the GPU; undefined when none does. Of packed elements it is the first that has a part
   * of the byte that differs.
   *
   * @throws TypeError when the element types differ, or the GPU cannot reach one of the two.
   * @throws RangeError when the lengths differ.
   */
  async firstDifference(
    other: GpuBuffer<D>,
    options: StreamChoice = {},
  ): Promise<number | undefined> {
    options = STREAM_CHOICE.read(options, "firstDifference");
    this.#requireComparable(other);
    if (other.length !== this.length) {
      throw new RangeError(`Cannot compare ${this} with ${other}: their lengths differ`);
    }
    const spans = [this[KERNEL_MEMORY](), other[KERNEL_MEMORY]()] as const;
    const found = await firstDifferentByte(...spans, streamFor(this, options));
    return found === undefined ? undefined : Math.floor(found / elementBytes(this.dtype));
  }

  /**
   * Computes a checksum of all bytes and their places on the GPU: 16 hexadecimal digits, which tell
   * whether memory has changed, or whether buffers on two machines are the same. It does not
   * protect against forgery.
   */
  async checksum(options: StreamChoice = {}): Promise<string> {
    options = STREAM_CHOICE.read(options, "checksum");
    return await checksumOf(this[KERNEL_MEMORY](), streamFor(this, options));
  }

  /**
   * Makes a ticket by which another process opens the memory with `gpu.open()`; resolves when all
   * earlier work on it is done. The ticket can be sent as JSON. The two processes then use the same
   * bytes, each in its own order. Keep the buffer until the other process has disposed its own: the
   * kit keeps memory of a pool that long, but cannot know for other memory.
   *
   * Python's libraries open the tickets of memory made with `{ shareable: true }` or from a
   * CudaMemoryResource.
   *
   * @throws TypeError for memory that has no handle, such as that of the default pool; the message
   *   names the ways to get memory that has.
   * @throws RangeError for more than 64 axes, which no ticket has.
   */
  async share(): Promise<MemoryTicket<D>> {
    const { dtype, shape } = this;
    return await shareMemory({ span: this[MEMORY](), dtype, shape, name: `${this}` });
  }

  /**
   * Hands the memory to another Worker of this process, once all earlier work on it is done. From
   * then on nothing here can use it. Post the result to the Worker, which calls `gpu.takeOver()`;
   * when several try, the first gets it. Memory that nobody takes over is kept as long as the
   * process.
   *
   * @throws TypeError for a view, and for memory that is not the driver's own device memory.
   */
  async handOver(): Promise<HandedOver<D>> {
    const { dtype, shape, isView } = this;
    return await handOverMemory({ span: this[MEMORY](), dtype, shape, isView, name: `${this}` });
  }

  /** Frees the memory after the work queued on it; disposing a view frees nothing. */
  dispose(): void {
    if (this.isView) this.#viewDisposed = true;
    else this.#allocation.release();
  }

  /** Frees the memory in the order of `stream`, instead of the stream that it was made on. */
  close(stream: CudaStream): void {
    requireKind(stream, STREAM, "close");
    if (!this.disposed) streamFor(this, { stream });
    if (this.isView) this.#viewDisposed = true;
    else this.#allocation.release(stream);
  }

  /**
   * Returns the address and gives up the memory: from now on the caller must free it, and neither
   * this buffer nor its views can be used. Work queued on it still runs: wait for it first.
   *
   * Free the address with the `memoryResource`, also through `fromHandle()`. Where the resource got
   * the memory straight from the driver, the driver's own call frees it too; for mapped memory that
   * call takes the resource's `hostAddress()` of it.
   *
   * @throws TypeError for a view, and while a transfer in pieces or a graph uses it.
   */
  release(): bigint {
    this.#requireUsable();
    if (this.isView) {
      throw new TypeError(
        `Cannot release ${this}: it is a view; release the buffer that owns the memory`,
      );
    }
    return this.#allocation.giveAway();
  }

  /** Returns the buffer's name for messages: `DeviceBuffer(weights, float32[2, 3])`. */
  override toString(): string {
    const shape = formatShape(this.dtype, this.shape);
    return `${this.constructor.name}(${nameOf(this.#allocation)}, ${shape})`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    if (this.disposed) return `${this} disposed`;
    const { asleep } = this.#allocation;
    const where = `device ${this.deviceOrdinal}${asleep === undefined ? "" : ` (${asleep})`}`;
    return `${this} ${formatBytes(this.byteLength)} on ${where}${this.isView ? ", view" : ""}`;
  }

  /** @ignore Allocates a buffer of the same kind. */
  protected abstract [ALLOCATE_LIKE](request: BufferRequest<D>): GpuBuffer<D>;

  /** @ignore Converts elements of the buffer; see {@link GpuBuffer.astype}. */
  [CONVERT]<E extends DType>(layout: NamedLayout, dtype: E, options: LikeOptions): GpuBuffer<E> {
    options = AS_TYPE_OPTIONS.read(options, "astype");
    const { into, label }: AsTypeOptions = options;
    requireKind(dtype, DTYPE, "astype");
    const { context } = this;
    if (into !== undefined) checkTarget(into, layout, dtype);
    const span = this[KERNEL_MEMORY]();
    const source = { ...layout, span, dtype: this.dtype };
    if (into instanceof StridedView) {
      const { stream } = options;
      using packed = this[CONVERT](layout, dtype, { stream });
      into.copyFrom(packed, { stream });
      return into as never;
    }
    if (into !== undefined) {
      const stream = options.stream === undefined
        ? streamForCopy(into[MEMORY](), span, undefined)
        : streamOn(context, options, this);
      for (const { allocation } of [span, into[MEMORY]()]) {
        if (reaches(stream.context, allocation)) continue;
        throw new TypeError(
          `Cannot convert ${layout.name} into ${into}: one is on device ${allocation.context.ordinal}, ` +
            `the other on ${stream.context.ordinal}; convert it on its device, and copy the result`,
        );
      }
      queueConversion({ span: into[KERNEL_MEMORY](), dtype }, source, stream);
      return into as GpuBuffer<E>;
    }
    const stream = streamFor(this, options);
    const { memoryResource: resource } = this;
    const request = { dtype, shape: layout.shape, resource, stream, label };
    const made = this[ALLOCATE_LIKE](request as never) as GpuBuffer<DType> as GpuBuffer<E>;
    return finished(
      made,
      () => queueConversion({ span: made[KERNEL_MEMORY](), dtype }, source, stream),
    );
  }

  #show({ shape, byteOffset }: ViewPlace): this {
    return this.#derive({ dtype: this.dtype, shape, byteOffset }) as this;
  }

  /** Makes a view of the same kind over the same block. */
  #derive<E extends DType>(place: Pick<BufferFields<E>, "dtype" | "shape" | "byteOffset">) {
    this.#requireUsable();
    const Kind = this.constructor as new (parts: Parts<BufferFields<E>>) => GpuBuffer<E>;
    return new Kind(new Parts({ ...this.#fields, ...place, owner: this.#owner }));
  }

  #arrange(layout: StridedLayout): StridedView<D, this> {
    return new StridedView<D, this>(new Parts({ buffer: this, layout }));
  }

  #tensor(options: DLPackOptions): DLPackTensor {
    const { dtype, shape } = this;
    const strides = contiguousStrides(shape);
    return makeTensor({ ...this[MEMORY](), name: this, dtype, shape, strides }, options);
  }

  #requireComparable(other: GpuBuffer<D>): void {
    this.#requireUsable();
    if (!(other instanceof GpuBuffer)) {
      throw new TypeError(
        `Cannot compare ${this} with ${describeValue(other)}: ` +
          (other as unknown instanceof StridedView
            ? "its elements have gaps; contiguous() makes a buffer of them"
            : "expected a buffer; upload() arrays"),
      );
    }
    if (other.disposed) throw new DisposedError(other.toString());
    if (!reaches(this.context, other.#allocation)) {
      throw new TypeError(
        `Cannot compare ${this} with ${other}: one is on device ${this.deviceOrdinal}, the other on ` +
          `${other.deviceOrdinal}; copy one of them first`,
      );
    }
    if (other.dtype !== this.dtype) throw otherType(`compare ${this} with ${other}`);
  }

  #requireUsable(): void {
    if (!this.disposed) return;
    const isGivenAway = !this.#viewDisposed && this.#allocation.isGivenAway;
    throw new DisposedError(isGivenAway ? `${this}, whose memory was given away` : `${this}`);
  }

  /** Moves one element, with those that share its bytes; waits for the GPU. */
  async #moveElement(
    direction: "upload" | "download",
    { place, memory }: { readonly place: number; readonly memory: Uint8Array<ArrayBuffer> },
    options: StreamChoice,
  ): Promise<void> {
    const { byteLength } = memory;
    const offset = Math.floor(place / packLength(this.dtype)) * byteLength;
    const span = partOf(this[MEMORY](), { offset, byteLength });
    await transfer({ direction, stream: streamFor(this, options), span, host: { memory } });
  }

  #task(direction: "upload" | "download", host: HostSide, options: TransferChoice): HostTransfer {
    const { onProgress, signal } = options;
    const stream = streamOn(this.#allocation.context, options, this);
    return { direction, stream, span: this[MEMORY](), host, onProgress, signal };
  }
}

comesFrom(GpuBuffer, "gpu.alloc(), gpu.upload() and others of its kind");

/**
 * Checks a buffer that is to take converted elements.
 *
 * @throws TypeError when it has another element type.
 * @throws RangeError when it has another shape.
 */
function checkTarget(
  into: GpuBuffer | StridedView,
  { name, shape }: NamedLayout,
  dtype: DType,
): void {
  if (into.dtype !== dtype) {
    throw new TypeError(`Cannot convert ${name} to ${dtype} into ${into}: element types differ`);
  }
  if (into.shape.join() === shape.join()) return;
  throw new RangeError(`Cannot convert ${name} into ${into}: shapes differ`);
}
