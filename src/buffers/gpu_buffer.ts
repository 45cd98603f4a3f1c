// What people do with every kind of buffer: views, queued copies and fills, single elements.

import type { DType, ScalarOf } from "../dtype.ts";
import { queueCopy, streamForCopy } from "../transfer/copy.ts";
import { queueFill } from "../transfer/fill.ts";
import type { DeviceBufferRequest } from "./device_buffer.ts";
import { elementOf } from "./element.ts";
import { readElement, writeElement } from "./element_access.ts";
import { type BufferFields, MemoryWindow } from "./memory_window.ts";
import { OptionSet, TEXT } from "../options.ts";
import { STREAM, STREAM_CHOICE, type StreamChoice } from "../stream_choice.ts";
import { type Shape, toShape } from "./shape.ts";
import { StridedView } from "./strided_view.ts";
import { contiguousStrides, STRIDED_LAYOUT, type StridedLayout, transposed } from "./strides.ts";
import {
  checkChunk,
  checkSplit,
  elementIndex,
  rangeOf,
  reshaped,
  rowAt,
  shapeAs,
  type ViewPlace,
} from "./views.ts";

/** How to allocate a buffer like another one. */
export interface LikeOptions extends StreamChoice {
  /** A name for tables and errors. */
  readonly label?: string | undefined;
}

const LIKE_OPTIONS = new OptionSet<LikeOptions>({ stream: STREAM, label: TEXT });

/** Typed memory that the GPU can reach, or a view of a part of it. */
export abstract class GpuBuffer<D extends DType = DType> extends MemoryWindow<D> {
  /** Makes a buffer of the same kind over the same block. */
  protected abstract derive<E extends DType>(fields: BufferFields<E>): GpuBuffer<E>;

  /** Allocates a buffer of the same kind. */
  protected abstract create(request: DeviceBufferRequest<D>): GpuBuffer<D>;

  /**
   * Shows one row: the part at `index` along the outermost axis, without a copy.
   *
   * @throws RangeError when there is no such row; a negative index counts from the end.
   */
  view(index: number): this {
    return this.#show(rowAt(this, index));
  }

  /** Shows elements `start` to `end` of the flat buffer, by TypedArray.subarray's rules; no copy. */
  subarray(start?: number, end?: number): this {
    return this.#show(rangeOf(this, { start, end }));
  }

  /**
   * Copies elements `start` to `end` of the flat buffer into a new buffer of the same kind, by
   * TypedArray.slice's rules. The copy is queued; the buffer is the caller's to dispose.
   */
  slice(start?: number, end?: number, options: LikeOptions = {}): this {
    const { stream } = LIKE_OPTIONS.read(options, "slice");
    const part = this.subarray(start, end);
    const copy = this.allocateLike(part.shape, options);
    try {
      return copy.copyFrom(part, { stream });
    } catch (error) {
      copy.dispose();
      throw error;
    }
  }

  /**
   * Shows the same elements in another shape, without a copy; a size of -1 stands for the rest.
   *
   * @throws RangeError when the shape has another number of elements.
   */
  reshape(shape: number | Shape): this {
    return this.#show(reshaped(this, shape));
  }

  /**
   * Shows the same bytes as another element type, flat unless the sizes match, without a copy.
   *
   * @throws RangeError when the bytes are not a whole number of elements, or are misaligned for them.
   */
  as<E extends DType>(dtype: E): GpuBuffer<E> {
    return this.derive({ ...this.fields(), dtype, shape: shapeAs(this, dtype) });
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
    STRIDED_LAYOUT.read(layout, "strided");
    const shape = layout.shape === undefined ? this.shape : toShape(layout.shape);
    const { strides = contiguousStrides(shape), offset = 0 } = layout;
    return new StridedView<D, this>(this, { shape, strides, offset });
  }

  /** Shows the axes in another order, reversed by default, without a copy. */
  transpose(order?: readonly number[]): StridedView<D, this> {
    const { shape } = this;
    const layout = { shape, strides: contiguousStrides(shape), offset: 0 };
    return new StridedView<D, this>(this, transposed(layout, order));
  }

  /** Allocates a buffer of the same kind and element type from the same resource. */
  allocateLike(shape: number | Shape = this.shape, options: LikeOptions = {}): this {
    const { dtype, allocation: { resource } } = this.fields();
    const { label } = LIKE_OPTIONS.read(options, "allocateLike");
    return this.create({ dtype, shape, resource, stream: this.streamFor(options), label }) as this;
  }

  /**
   * Queues a copy from another buffer or a strided view and does not wait. Both blocks stay until
   * it is done, also when they are disposed meanwhile (cuMemcpyAsync; cuMemcpyPeerAsync between
   * devices, where the stream may be one of either, and is the destination's by default).
   *
   * @throws TypeError when the element types differ; use `as()` to copy bytes.
   * @throws RangeError when the sizes differ, or the ranges overlap.
   */
  copyFrom(source: GpuBuffer<D> | StridedView<D>, options: StreamChoice = {}): this {
    const { stream } = STREAM_CHOICE.read(options, "copyFrom");
    if (source instanceof StridedView) {
      this.strided().copyFrom(source, options);
      return this;
    }
    if (!(source instanceof GpuBuffer)) {
      throw new TypeError(
        `Cannot queue a copy from an ordinary array into ${this}: its memory could move on before ` +
          `the GPU reads it; await upload(), or copy from a pinned buffer`,
      );
    }
    if (source.dtype !== this.dtype) {
      throw new TypeError(`Cannot copy ${source} into ${this}: element types differ, use as()`);
    }
    const [to, from] = [this.span, source.span];
    queueCopy(to, from, streamForCopy(to, from, stream));
    return this;
  }

  /** Queues a copy into another buffer and does not wait; see {@link GpuBuffer.copyFrom}. */
  copyTo(destination: GpuBuffer<D> | StridedView<D>, options: StreamChoice = {}): this {
    STREAM_CHOICE.read(options, "copyTo");
    if (!(destination instanceof GpuBuffer) && !(destination instanceof StridedView)) {
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
    STREAM_CHOICE.read(options, "fill");
    queueFill(this.span, elementOf(this.dtype, value), this.streamFor(options));
    return this;
  }

  /** Queues setting every byte to zero and does not wait (cuMemsetD8Async). */
  clear(options: StreamChoice = {}): this {
    STREAM_CHOICE.read(options, "clear");
    queueFill(this.span, Uint8Array.of(0), this.streamFor(options));
    return this;
  }

  /**
   * Reads one element of the flat buffer. Slow: a copy and a wait for each call; download the
   * buffer to read many.
   *
   * @throws RangeError when there is no such element; a negative index counts from the end.
   */
  async at(index: number, options: StreamChoice = {}): Promise<ScalarOf<D>> {
    STREAM_CHOICE.read(options, "at");
    return await readElement(this.#place(index, options));
  }

  /**
   * Writes one element of the flat buffer. Slow: a copy and a wait for each call; upload the buffer
   * to write many.
   *
   * @throws RangeError when there is no such element; a negative index counts from the end.
   */
  async setAt(
    index: number,
    value: ScalarOf<D> | boolean,
    options: StreamChoice = {},
  ): Promise<this> {
    STREAM_CHOICE.read(options, "setAt");
    await writeElement(this.#place(index, options), value);
    return this;
  }

  /**
   * Reads the only element. Slow: a copy and a wait for each call.
   *
   * @throws RangeError when there is not exactly one.
   */
  async item(options: StreamChoice = {}): Promise<ScalarOf<D>> {
    STREAM_CHOICE.read(options, "item");
    if (this.disposed || this.length === 1) return await this.at(0, options);
    throw new RangeError(`Cannot read ${this} as one item: it has ${this.length} elements`);
  }

  #show(place: ViewPlace): this {
    const { byteOffset, shape } = place;
    const { allocation, token, dtype } = this.fields();
    return this.derive({ allocation, token, dtype, shape, byteOffset, isView: true }) as this;
  }

  #place(index: number, options: StreamChoice) {
    const { dtype, span } = this;
    return { span, dtype, index: elementIndex(this, index), stream: this.streamFor(options) };
  }
}
