// Buffers in memory that the CPU can access too, with a typed array over the memory itself.

import type { LiveKind } from "../accounting/ledger.ts";
import { type BitsOf, type DType, type HostValue, type ScalarOf, viewBits } from "../dtype.ts";
import { Allocation } from "../memory/allocation.ts";
import { keepWith, showToHost } from "../memory/host_bytes.ts";
import { MOVED_AWAY } from "../memory/host_memory.ts";
import { hostAddressOf } from "../memory/resource_kind.ts";
import { DisposedError } from "../words/errors.ts";
import { comesFrom, type Parts } from "../words/parts.ts";
import { refuseIndices, textOf } from "./array_habits.ts";
import { blockOf, type BufferFields, GpuBuffer, ownerOf, type Uploadable } from "./gpu_buffer.ts";
import type { HostValues } from "./host_values.ts";
import type { BufferRequest } from "./place_options.ts";
import type { BUFFER_KIND } from "./retyped.ts";
import { writeElements } from "./set_elements.ts";
import { byteLengthOf, requestedShape } from "./shape.ts";

/** The parts of a buffer that the CPU can access. */
export interface HostBufferFields<D extends DType> extends BufferFields<D> {
  /** The whole block, as the CPU sees it. */
  readonly bytes: Uint8Array<ArrayBufferLike>;
}

/** Returns the whole block of a buffer, as the CPU sees it. */
export let hostBytesOf: (buffer: HostBuffer) => Uint8Array<ArrayBufferLike>;

/**
 * Typed memory that both the CPU and the GPU can access: the base class of pinned, mapped, managed
 * and registered memory. `array` is a typed array over the memory itself.
 */
export abstract class HostBuffer<D extends DType = DType> extends GpuBuffer<D> {
  /** @ignore Its kind, for types. */
  declare readonly [BUFFER_KIND]: `host ${string}`;
  readonly #bytes: Uint8Array<ArrayBufferLike>;
  #array: BitsOf<D> | undefined;

  static {
    hostBytesOf = (buffer) => buffer.#bytes;
    const help = "use x.array, a typed array over the same memory";
    refuseIndices(HostBuffer.prototype, { read: help, write: help });
  }

  /** @ignore Adopts memory. */
  constructor(parts: Parts<HostBufferFields<D>>) {
    super(parts);
    this.#bytes = parts.value.bytes;
  }

  /**
   * The elements as a typed array over the memory itself (bfloat16: its bits). Wait for queued work
   * before reading or writing it. Its length becomes 0 when the buffer is disposed. A reference to
   * the array keeps the memory alive; one to a part of it (`subarray()`) does not.
   *
   * @throws DisposedError when the buffer was disposed, or the array was transferred to another
   *   thread.
   */
  get array(): BitsOf<D> {
    if (this.disposed) throw new DisposedError(this.toString());
    if (this.length > 0 && this.#bytes.byteLength === 0) {
      throw new DisposedError(`${this}, whose array ${MOVED_AWAY}`);
    }
    return this.#array ??= this.#show();
  }

  /**
   * Copies host values into the elements from `offset` on, by TypedArray.set's rules: a typed array of
   * the element type, or plain numbers. Blocks until earlier calls, awaited or not, are done with the
   * elements and with the array; in the body of a capture it writes at once.
   *
   * @throws RangeError when they do not fit in, also a number that the element type does not hold.
   * @throws TypeError for an array of another type, when the memory was registered as read-only, and when an
   *   earlier call needs the event loop: await that first.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using host = gpu.pinned("bfloat16", 3).set([0, 1.5, -2]);
   * using x = gpu.alloc("bfloat16", 3).copyFrom(host);
   * console.log(await x.download()); // Float32Array(3) [0, 1.5, -2]
   * ```
   */
  set(source: Uploadable<D> | HostValues<ScalarOf<D> | HostValue<D>>, offset = 0): this {
    if (blockOf(this).isReadOnly && !this.disposed) {
      throw new TypeError(`Cannot set elements of ${this}: it is read-only memory`);
    }
    writeElements(this, { source, offset, array: this.array });
    return this;
  }

  /**
   * Refuses iteration, spreading and `Array.from()`: use them on `array`, once the GPU is done.
   *
   * @throws TypeError always.
   */
  override [Symbol.iterator](): never {
    throw new TypeError(
      `Cannot iterate over ${this}: iterate over x.array, or over await x.download()`,
    );
  }

  /**
   * Returns the buffer's name for texts, and refuses to be a number.
   *
   * @throws TypeError in arithmetic and comparisons: the elements are in `array`.
   */
  override [Symbol.toPrimitive](hint: string): string {
    return textOf(this, hint, "compute with x.array, or with await x.download()");
  }

  #show(): BitsOf<D> {
    const { dtype, length } = this;
    const bytes = this.#bytes;
    const byteOffset = bytes.byteOffset + this.byteOffset;
    const array = viewBits(dtype, { buffer: bytes.buffer, byteOffset, length });
    keepWith(array, ownerOf(this));
    return array;
  }
}

comesFrom(HostBuffer, "gpu.pinned(), gpu.mapped(), gpu.managed() and gpu.register()");

/** Allocates memory that the CPU can access too, and shows it. Nothing stays when that fails. */
export function hostFields<D extends DType>(
  request: BufferRequest<D>,
  kind: LiveKind,
): HostBufferFields<D> {
  const { dtype, resource, stream, label } = request;
  const shape = requestedShape(request);
  const byteLength = byteLengthOf(dtype, shape);
  const allocation = Allocation.create({ kind, byteLength, resource, stream, label });
  return {
    allocation,
    dtype,
    shape,
    bytes: showToHost(allocation, hostAddressOf(resource, allocation.address)),
  };
}
