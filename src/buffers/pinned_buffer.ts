// Page-locked host memory as a typed array: the source and destination of queued copies.

import { type BitsOf, type DType, elementBytes, viewBits } from "../dtype.ts";
import { DisposedError } from "../errors.ts";
import { Allocation } from "../memory/allocation.ts";
import { type BufferFields, GpuBuffer } from "./gpu_buffer.ts";
import type { DeviceBufferRequest } from "./device_buffer.ts";
import { countOf, toShape } from "./shape.ts";

/** Page-locked host memory that the GPU copies at the speed of the bus. */
export class PinnedBuffer<D extends DType = DType> extends GpuBuffer<D> {
  readonly #memory: ArrayBuffer;
  #array: BitsOf<D> | undefined;

  /** Adopts page-locked memory; {@link PinnedBuffer.allocate} allocates it. */
  constructor(fields: BufferFields<D> & { readonly memory: ArrayBuffer }) {
    super(fields);
    this.#memory = fields.memory;
  }

  /** Allocates page-locked memory; the elements are whatever was there before. */
  static allocate<D extends DType>(request: DeviceBufferRequest<D>): PinnedBuffer<D> {
    const { dtype, resource, stream, label } = request;
    const shape = toShape(request.shape);
    const byteLength = countOf(shape) * elementBytes(dtype);
    const allocation = Allocation.create({ kind: "pinned", byteLength, resource, stream, label });
    const memory = hostMemoryOf(allocation);
    allocation.emptyOnRelease(memory);
    allocation.guard(memory);
    const fields = { allocation, token: memory, dtype, shape, byteOffset: 0, isView: false };
    return new PinnedBuffer({ ...fields, memory });
  }

  /**
   * The elements as a typed array over the page-locked memory itself (bfloat16: its bits). Wait for
   * queued copies before reading or writing it. When the buffer is disposed its length becomes 0.
   */
  get array(): BitsOf<D> {
    if (this.disposed) throw new DisposedError(this.toString());
    const { dtype, byteOffset, length } = this;
    return this.#array ??= viewBits(dtype, { buffer: this.#memory, byteOffset, length });
  }

  /** Shows the same bytes as another element type; see {@link GpuBuffer.as}. */
  override as<E extends DType>(dtype: E): PinnedBuffer<E> {
    return super.as(dtype) as PinnedBuffer<E>;
  }

  protected override derive<E extends DType>(fields: BufferFields<E>): PinnedBuffer<E> {
    return new PinnedBuffer({ ...fields, memory: this.#memory });
  }
}

/** The block as one ArrayBuffer without a copy; it is the only one ever made over it. */
function hostMemoryOf({ address, byteLength }: Allocation): ArrayBuffer {
  const pointer = Deno.UnsafePointer.create(address);
  return pointer === null
    ? new ArrayBuffer(0)
    : Deno.UnsafePointerView.getArrayBuffer(pointer, byteLength);
}
