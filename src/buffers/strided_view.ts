// Views of a buffer's elements in any order: transposed, stepped, padded rows.

import { nextId } from "../accounting/clock.ts";
import { MEMORY, type MemorySpan, streamForCopy } from "../copies/copy.ts";
import { CopyLayout } from "../copies/copy_layout.ts";
import { type ElementBits, queueStridedFill } from "../copies/fill.ts";
import { type ShapedCopy, usesOf } from "../copies/shaped_copy.ts";
import {
  DLPACK_OPTIONS,
  type DLPackOptions,
  type DLPackTensor,
  makeTensor,
} from "../dlpack/dlpack_tensor.ts";
import type { Context } from "../driver/context.ts";
import {
  type ArrayOf,
  type DType,
  elementBytes,
  type HostValue,
  packLength,
  type ScalarOf,
} from "../dtype.ts";
import { KERNEL_MEMORY, type KernelMemory } from "../launch/kernel_memory.ts";
import { type HostMemory, moving } from "../memory/host_memory.ts";
import { Fence } from "../order/fence.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import { STREAM_CHOICE, type StreamChoice, streamOn } from "../order/stream_choice.ts";
import { waitForGpu } from "../order/waiting.ts";
import { transfer, transferSync } from "../transfer/host_transfer.ts";
import { TRANSFER_CHOICE, type TransferChoice } from "../transfer/transfer_choice.ts";
import { DisposedError } from "../words/errors.ts";
import { finished } from "../words/finished.ts";
import { NUMBER, OptionSet } from "../words/options.ts";
import { Owned } from "../words/owned.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { COMPUTE_HELP, notOnGpu, refuseIndices, textOf } from "./array_habits.ts";
import { CONVERT, isConvertible } from "./conversion.ts";
import { elementBitsOf, otherType } from "./element.ts";
import type { AsTypeOptions, GpuBuffer, LikeOptions, Uploadable } from "./gpu_buffer.ts";
import { hostDestination, hostSource } from "./host_elements.ts";
import { type BufferImage, drawImage, IMAGE_OPTIONS, type ImageOptions } from "./image.ts";
import type { Retyped } from "./retyped.ts";
import { countOf, formatShape, resolveRange, type Shape } from "./shape.ts";
import { queueStridedCopy, queueStridedCopyNow } from "./strided_copy.ts";
import {
  type AxisRange,
  checkLayout,
  isContiguous,
  isDistinct,
  sharesElement,
  stepped,
  type StridedLayout,
  transposed,
  withoutAxis,
} from "./strides.ts";
import type { BufferSummary } from "./summary.ts";
import { elementIndex, nameView, rejectAxes, rowIndex } from "./views.ts";

const AXIS_RANGE = new OptionSet<AxisRange>({ start: NUMBER, end: NUMBER, step: NUMBER });

/**
 * The layouts of the last copy of a shape: programs repeat copies, and a buffer's shape is the same object
 * in all its views.
 */
const lastLayouts = new WeakMap<Shape, CopyLayout>();

/**
 * A view of a buffer's elements in any order: transposed, every second one, a part of each row. It
 * shares the buffer's memory and frees nothing, and its copies follow the strides.
 * `buffer.strided()` and `buffer.transpose()` create one.
 */
export class StridedView<D extends DType = DType, B extends GpuBuffer<D> = GpuBuffer<D>>
  extends Owned
  implements KernelMemory {
  /** The view's number, unique in this process. */
  readonly id: number = nextId();
  /** The buffer whose elements it shows. */
  readonly buffer: B;
  /** Element type. */
  readonly dtype: D;
  /** Size of each axis, outermost first. */
  readonly shape: Shape;
  /** Elements from one step to the next along each axis. */
  readonly strides: readonly number[];
  /** Index of the first element in the buffer. */
  readonly offset: number;
  /** The length of the buffer that the layout was last checked against: some kinds can shrink. */
  #checkedLength: number;
  #disposed = false;

  /** @ignore Shows elements of a buffer. */
  constructor(parts: Parts<{ readonly buffer: B; readonly layout: StridedLayout }>) {
    super();
    const { buffer, layout } = partsOf(parts, new.target);
    if (buffer.disposed) throw new DisposedError(buffer.toString());
    if (packLength(buffer.dtype) > 1) {
      throw new TypeError(
        `Cannot view ${buffer} in strides: ${buffer.dtype} has several elements in a byte; astype() ` +
          'unpacks them, as("uint8") shows the bytes',
      );
    }
    this.#checkedLength = buffer.length;
    checkLayout(layout, this.#checkedLength, buffer);
    this.buffer = buffer;
    this.dtype = buffer.dtype;
    this.shape = layout.shape;
    this.strides = layout.strides;
    this.offset = layout.offset;
  }

  static {
    refuseIndices(StridedView.prototype, {
      read: "it is on the GPU; use await x.view(i).download(), or x.download() for many",
      write: "it is on the GPU; use x.view(i).fill(value), or upload() for many",
    });
  }

  /** Number of elements. */
  get length(): number {
    return countOf(this.shape);
  }

  /** Bytes of all elements, without the gaps between them. */
  get byteLength(): number {
    return this.length * elementBytes(this.dtype);
  }

  /** The block's number, shared by all views of it. */
  get storageId(): number {
    return this.buffer.storageId;
  }

  /** Context that it belongs to. */
  get context(): Context {
    return this.buffer.context;
  }

  /** Tells whether the elements follow each other, as in a buffer of the same shape. */
  get isContiguous(): boolean {
    return isContiguous(this);
  }

  /** Tells whether the view or its buffer was disposed. */
  get disposed(): boolean {
    return this.#disposed || this.buffer.disposed;
  }

  /**
   * Returns the memory for a kernel.
   *
   * @throws TypeError when there are gaps between the elements, which an address cannot express.
   * @ignore
   */
  [KERNEL_MEMORY](): MemorySpan {
    this.#checkUsable();
    if (!this.isContiguous) {
      throw new TypeError(
        "its elements do not lie side by side; pass its buffer and the strides, or contiguous()",
      );
    }
    return this.#span();
  }

  /** Returns a view with the axes in another order; reversed by default. */
  transpose(order?: readonly number[]): StridedView<D, B> {
    return this.#derive(transposed(this, order));
  }

  /**
   * Returns a view of one step of the outermost axis.
   *
   * @param index The step; a negative one counts from the end.
   *
   * @throws RangeError when there is no such step.
   */
  view(index: number): StridedView<D, B>;
  view(index: number, second?: unknown): StridedView<D, B> {
    if (second !== undefined) rejectAxes(this, "view", [index, second]);
    return this.#derive(withoutAxis(this, 0, rowIndex(this, index)));
  }

  /**
   * Returns a view of a part of one axis, by the rules of Array.slice, with every `step`-th
   * position: what lies outside is left out, where `view()` and `strided()` refuse it.
   */
  range(axis: number, range: AxisRange): StridedView<D, B> {
    range = AXIS_RANGE.read(range, "range");
    const { start, end } = resolveRange(this.shape[axis] ?? 0, range);
    return this.#derive(stepped(this, axis, { start, end, step: range.step ?? 1 }));
  }

  /**
   * Queues a copy from a buffer or a view of the same shape and does not wait. Rows that are
   * contiguous on both sides are copied fast (cuMemcpy2DAsync, cuMemcpy3DAsync). Single elements of one
   * device's memory, as of a transposed matrix, are copied by a kernel; elsewhere they are slow.
   *
   * @throws TypeError when the element types differ, or some elements of this view share memory.
   * @throws RangeError when the shapes differ, or both sides share memory.
   */
  copyFrom(source: GpuBuffer<D> | StridedView<D>, options: StreamChoice = {}): this {
    options = STREAM_CHOICE.read(options, "copyFrom");
    const { stream } = options;
    const from = stridedOf(source);
    if (from === undefined) {
      throw new TypeError(`Cannot copy into ${this}: ${notOnGpu("source", source)}`);
    }
    queueStridedCopy(this.#copyOf(from, stream));
    return this;
  }

  /** Queues a copy into a buffer or a view and does not wait; see {@link StridedView.copyFrom}. */
  copyTo(destination: GpuBuffer<D> | StridedView<D>, options: StreamChoice = {}): this {
    options = STREAM_CHOICE.read(options, "copyTo");
    const to = stridedOf(destination);
    if (to === undefined) {
      throw new TypeError(`Cannot copy ${this}: ${notOnGpu("destination", destination)}`);
    }
    to.copyFrom(this, options);
    return this;
  }

  /**
   * Queues setting every element to `value` and does not wait (cuMemsetD2D8Async and relatives).
   *
   * @throws TypeError when the value is of another kind than the elements.
   * @throws RangeError when the element type does not hold it.
   */
  fill(value: ScalarOf<D> | HostValue<D>, options: StreamChoice = {}): this {
    this.#checkUsable();
    const stream = streamOn(this.context, STREAM_CHOICE.read(options, "fill"), this);
    return this.#fillWith(elementBitsOf(this.dtype, value), stream);
  }

  /** Queues setting every element to zero and does not wait; what lies between them stays. */
  clear(options: StreamChoice = {}): this {
    this.#checkUsable();
    const stream = streamOn(this.context, STREAM_CHOICE.read(options, "clear"), this);
    const element = { byteLength: elementBytes(this.dtype), low: 0, high: 0 };
    return this.#fillWith(element, stream);
  }

  #fillWith(element: ElementBits, stream: CudaStream): this {
    const bytes = elementBytes(this.dtype);
    const axes = this.shape.map((size, axis) => {
      const stride = (this.strides[axis] ?? 0) * bytes;
      return { size, stride };
    });
    queueStridedFill({ ...this.#span(), axes }, element, stream);
    return this;
  }

  /**
   * Queues a copy of the elements, in the order of the view, into a new buffer of the same kind;
   * does not wait.
   */
  contiguous(options: StreamChoice = {}): B {
    options = STREAM_CHOICE.read(options, "contiguous");
    return finished(
      this.buffer.allocateLike(this.shape, options),
      (copy) => this.copyTo(copy, options),
    );
  }

  /**
   * Reads one element, counted in the order of the view. Slow: a copy and a wait for each call.
   *
   * @throws RangeError when there is no such element; a negative index counts from the end.
   */
  async at(index: number, options: StreamChoice = {}): Promise<ScalarOf<D>> {
    if (typeof options === "number") rejectAxes(this, "at", [index, options]);
    options = STREAM_CHOICE.read(options, "at");
    return await this.buffer.at(this.#placeOf(index), options);
  }

  /** Writes one element, counted in the order of the view; see {@link GpuBuffer.setAt}. */
  async setAt(
    index: number,
    value: ScalarOf<D> | HostValue<D>,
    options: StreamChoice = {},
  ): Promise<this> {
    options = STREAM_CHOICE.read(options, "setAt");
    await this.buffer.setAt(this.#placeOf(index), value, options);
    return this;
  }

  /** Returns the index in the buffer of an element of the view. */
  #placeOf(index: number): number {
    this.#checkUsable();
    this.#requireInside();
    const { shape, strides } = this;
    let rest = elementIndex(this, index);
    let place = this.offset;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const size = shape[axis] ?? 1;
      place += rest % size * (strides[axis] ?? 0);
      rest = Math.floor(rest / size);
    }
    return place;
  }

  /**
   * Tells whether a buffer or another view has the same shape and the same bits, compared on the GPU
   * through contiguous buffers; see {@link GpuBuffer.equals}.
   */
  async equals(other: GpuBuffer<D> | StridedView<D>, options: StreamChoice = {}): Promise<boolean> {
    options = STREAM_CHOICE.read(options, "equals");
    using packed: GpuBuffer<D> = this.contiguous(options);
    return await packed.equals(other, options);
  }

  /** Describes the values, through a contiguous buffer; see {@link GpuBuffer.describe}. */
  async describe(options: TransferChoice = {}): Promise<BufferSummary> {
    options = TRANSFER_CHOICE.read(options, "describe");
    using packed = nameView(this.contiguous({ stream: options.stream }), `${this}`);
    return await packed.describe(options);
  }

  /**
   * Queues writing a pattern over and over into the elements, in the order of the view, through a
   * contiguous buffer; does not wait. See {@link GpuBuffer.fillPattern}.
   */
  fillPattern(pattern: Uploadable<D> | GpuBuffer<D>, options: StreamChoice = {}): this {
    options = STREAM_CHOICE.read(options, "fillPattern");
    this.#checkUsable();
    using packed: GpuBuffer<D> = this.buffer.allocateLike(this.shape, options);
    packed.fillPattern(pattern, options);
    return this.copyFrom(packed, options);
  }

  /**
   * Draws the elements as a picture, in the order of the view; see {@link GpuBuffer.showImage}.
   * `planes.transpose([1, 2, 0])` shows an image whose colours are its outermost axis.
   *
   * @throws RangeError when a view of this shape is no picture.
   */
  async showImage(options: ImageOptions = {}): Promise<BufferImage> {
    const { dtype, shape, buffer } = this;
    const name = buffer.label ?? "StridedView";
    const source = { name, words: `${this}`, dtype, shape, view: this };
    return await drawImage(source, IMAGE_OPTIONS.read(options, "showImage"));
  }

  /**
   * Queues converting the elements to another type, in the order of the view, into a new buffer of the
   * same kind; see {@link GpuBuffer.astype}.
   */
  astype<E extends DType, T = undefined>(
    dtype: E,
    options: AsTypeOptions<NoInfer<E>, T> = {},
  ): T extends object ? T : Retyped<B, E> {
    return this.#converted(dtype, options) as never;
  }

  #converted<E extends DType>(dtype: E, options: LikeOptions): GpuBuffer<E> {
    this.#checkUsable();
    this.#requireInside();
    if (isConvertible(this)) {
      const { shape, strides, offset } = this;
      return this.buffer[CONVERT]({ shape, strides, offset, name: this }, dtype, options);
    }
    const stream = options?.stream;
    using packed: GpuBuffer = this.contiguous({ stream });
    return packed.astype(dtype, options);
  }

  /**
   * Copies host memory into the elements, in the order of the view, through a contiguous buffer.
   * Resolves when the elements are there.
   */
  async upload(source: Uploadable<D>, options: TransferChoice = {}): Promise<void> {
    options = TRANSFER_CHOICE.read(options, "upload");
    const { onProgress, signal } = options;
    const stream = streamOn(this.context, options, this);
    signal?.throwIfAborted();
    using packed = this.buffer.allocateLike(this.shape, { stream });
    const host = hostSource(this, source, moving("upload to", this));
    const copy = this.#copyOf(packed.strided(), stream);
    const [use] = usesOf(copy);
    const context = this.context.retain(); // the device may be disposed before the fence is
    let copied: Fence | undefined;
    const queue = () => {
      queueStridedCopyNow(copy);
      // Not an event on the stream, which the program may have disposed by now.
      copied = Fence.behind(context, queueOf(stream).handle);
    };
    const { span } = packed;
    const task = { direction: "upload", stream, span, host, onProgress, signal } as const;
    try {
      await transfer({ ...task, andThen: { uses: [use], queue } });
      const fence = copied;
      if (fence !== undefined) await waitForGpu(() => fence.poll(), () => fence.waitElsewhere());
    } finally {
      copied?.dispose();
      context.release();
    }
  }

  /**
   * Copies host memory into the elements and blocks until they are there; see
   * {@link StridedView.upload}.
   */
  uploadSync(source: Uploadable<D>, options: StreamChoice = {}): void {
    options = STREAM_CHOICE.read(options, "uploadSync");
    const stream = streamOn(this.context, options, this);
    using packed = this.buffer.allocateLike(this.shape, { stream });
    const host = hostSource(this, source, moving("upload to", this));
    const copy = this.#copyOf(packed.strided(), stream);
    transferSync({ direction: "upload", stream, span: packed.span, host });
    queueStridedCopy(copy);
    stream.synchronizeSync();
  }

  /**
   * Copies the elements, in the order of the view, into a new typed array, through a contiguous
   * buffer.
   */
  download(destination?: undefined, options?: TransferChoice): Promise<ArrayOf<D>>;
  /**
   * Copies the elements, in the order of the view, into `destination`, and resolves with it.
   *
   * @throws TypeError for an array of another element type.
   * @throws RangeError when the array is longer or shorter than the view.
   */
  download<T extends Uploadable<D>>(destination: T, options?: TransferChoice): Promise<T>;
  /** Copies the elements into `destination`, or into a new typed array, and resolves with it. */
  download<T extends Uploadable<D>>(
    destination: T | undefined,
    options?: TransferChoice,
  ): Promise<T | ArrayOf<D>>;
  async download(destination?: HostMemory, options: TransferChoice = {}): Promise<HostMemory> {
    options = TRANSFER_CHOICE.read(options, "download");
    const { onProgress, signal } = options;
    const stream = streamOn(this.context, options, this);
    const host = hostDestination(this, destination, moving("download from", this));
    signal?.throwIfAborted();
    using packed = this.contiguous({ stream });
    const { span } = packed;
    await transfer({ direction: "download", stream, span, host, onProgress, signal });
    return host.result();
  }

  /**
   * Copies the elements, in the order of the view, into a new typed array and blocks until they are
   * there.
   */
  downloadSync(destination?: undefined, options?: StreamChoice): ArrayOf<D>;
  /**
   * Copies the elements into `destination` and blocks until they are there; see
   * {@link StridedView.download}.
   */
  downloadSync<T extends Uploadable<D>>(destination: T, options?: StreamChoice): T;
  /** Copies the elements into `destination`, or into a new typed array; blocks until they are there. */
  downloadSync<T extends Uploadable<D>>(
    destination: T | undefined,
    options?: StreamChoice,
  ): T | ArrayOf<D>;
  downloadSync(destination?: HostMemory, options: StreamChoice = {}): HostMemory {
    options = STREAM_CHOICE.read(options, "downloadSync");
    const stream = streamOn(this.context, options, this);
    const host = hostDestination(this, destination, moving("download from", this));
    using packed = this.contiguous({ stream });
    transferSync({ direction: "download", stream, span: packed.span, host });
    return host.result();
  }

  /**
   * Makes a DLPack struct of the elements for another library, with these strides; see
   * {@link GpuBuffer.toDLPack}. A copy made for the library is contiguous.
   */
  toDLPack(options: DLPackOptions = {}): DLPackTensor {
    options = DLPACK_OPTIONS.read(options, "toDLPack");
    const { copy = false } = options;
    this.#checkUsable();
    if (copy) {
      using made = this.contiguous();
      return made.toDLPack(options);
    }
    const { dtype, shape, strides } = this;
    return makeTensor({ ...this.#span(), name: this, dtype, shape, strides }, options);
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
   * Returns the view's name for texts, and refuses to be a number.
   *
   * @throws TypeError in arithmetic and comparisons, which would be NaN and false.
   */
  [Symbol.toPrimitive](hint: string): string {
    return textOf(this, hint, COMPUTE_HELP);
  }

  /** Disposes the view; the buffer stays. */
  dispose(): void {
    this.#disposed = true;
  }

  /** Returns the view's name for messages: `StridedView(float32[3, 2] by [1, 3])`. */
  override toString(): string {
    return `StridedView(${formatShape(this.dtype, this.shape)} by [${this.strides.join(", ")}])`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this} of ${this.buffer}${this.disposed ? " disposed" : ""}`;
  }

  /** Returns the memory from its first element on, checked. */
  #span(): MemorySpan {
    const { allocation, address: start } = this.buffer[MEMORY]();
    this.#requireInside();
    const address = start + BigInt(this.offset * elementBytes(this.dtype));
    return { allocation, address, byteLength: this.byteLength };
  }

  #derive(layout: StridedLayout): StridedView<D, B> {
    this.#checkUsable();
    return new StridedView(new Parts({ buffer: this.buffer, layout }));
  }

  /** Checks a copy into this view, and returns it for the layer below. */
  #copyOf(from: StridedView<D>, chosen: CudaStream | undefined): ShapedCopy {
    this.#checkUsable();
    from.#checkUsable();
    const layout = this.#layoutFor(from);
    const [to, span] = [this.#span(), from.#span()];
    // Records of the same memory, such as one of a borrowed address, share their usage.
    if (to.allocation.usage === span.allocation.usage) {
      this.#requireApart(from, to.address - span.address);
    }
    return {
      destination: to.allocation,
      source: span.allocation,
      destinationAddress: to.address,
      sourceAddress: span.address,
      layout,
      stream: streamForCopy(to, span, chosen),
    };
  }

  /** Checks the layouts of a copy into this view; those of the last copy are found again. */
  #layoutFor(from: StridedView<D>): CopyLayout {
    if (from.dtype !== this.dtype) throw otherType(`copy ${from} into ${this}`);
    const ends = { to: this, from, elementBytes: elementBytes(this.dtype) };
    for (const { shape } of [this, from]) {
      const known = lastLayouts.get(shape);
      if (known?.isOf(ends) === true) return known;
    }
    if (from.shape.join() !== this.shape.join()) {
      throw new RangeError(`Cannot copy ${from} into ${this}: shapes differ`);
    }
    if (!isDistinct(this)) {
      throw new TypeError(`Cannot copy into ${this}: its elements share memory`);
    }
    const layout = new CopyLayout(ends);
    for (const { shape } of [this, from]) lastLayouts.set(shape, layout);
    return layout;
  }

  #checkUsable(): void {
    if (this.#disposed) throw new DisposedError(this.toString());
  }

  /**
   * Checks the layout again when the buffer has become shorter.
   *
   * @throws RangeError when the view shows elements that the buffer no longer has.
   */
  #requireInside(): void {
    const { buffer } = this;
    if (buffer.length >= this.#checkedLength) return;
    checkLayout(this, buffer.length, buffer);
    this.#checkedLength = buffer.length;
  }

  #requireApart(source: StridedView<D>, offsetBytes: bigint): void {
    const { shape, strides } = this;
    const offset = Number(offsetBytes) / elementBytes(this.dtype);
    const other = { shape, strides: source.strides, offset: 0 };
    if (!sharesElement({ shape, strides, offset }, other)) return;
    throw new RangeError(
      `Cannot copy ${source} into ${this}: both show the same memory, copy contiguous() instead`,
    );
  }
}

comesFrom(StridedView, "buffer.strided() and buffer.transpose()");

function stridedOf<D extends DType>(
  other: GpuBuffer<D> | StridedView<D>,
): StridedView<D> | undefined {
  if (other instanceof StridedView) return other;
  return typeof other?.strided === "function" ? other.strided() : undefined;
}
