// Device memory that is allocated by its first use: a plan may name more buffers than it comes to need.

import { ALLOCATE_LIKE, type BufferFields, GpuBuffer } from "./gpu_buffer.ts";
import type { DType } from "../dtype.ts";
import { DisposedError } from "../errors.ts";
import { formatBytes } from "../format.ts";
import { LazyAllocation } from "../memory/lazy_allocation.ts";
import { kindOf } from "../memory/resource_kind.ts";
import type { MemorySpan } from "../transfer/copy.ts";
import type { DeviceBufferRequest } from "./device_buffer.ts";
import { byteLengthOf, toShape } from "./shape.ts";

/** What a lazy buffer is made of. */
export interface LazyBufferFields<D extends DType> extends BufferFields<D> {
  /** The block of memory, which may not be there yet. */
  readonly allocation: LazyAllocation;
}

/**
 * Device memory that is taken by the first copy, fill, transfer, kernel or look at `ptr`. Sizes, views
 * and showing it take none.
 */
export class LazyBuffer<D extends DType = DType> extends GpuBuffer<D> {
  readonly #allocation: LazyAllocation;

  /** Adopts a block; {@link LazyBuffer.plan} makes one. */
  constructor(fields: LazyBufferFields<D>) {
    super(fields);
    this.#allocation = fields.allocation;
  }

  /** Plans a buffer and takes no memory. */
  static plan<D extends DType>(request: DeviceBufferRequest<D>): LazyBuffer<D> {
    const { dtype, resource, stream, label } = request;
    const shape = toShape(request.shape);
    const byteLength = byteLengthOf(dtype, shape);
    const kind = kindOf(resource);
    const allocation = new LazyAllocation({ kind, byteLength, resource, stream, label });
    const token = { allocation };
    allocation.guard(token);
    return new LazyBuffer({ allocation, token, dtype, shape, byteOffset: 0, isView: false });
  }

  /** Whether its memory was taken. A view answers for the whole block. */
  get isAllocated(): boolean {
    return this.#allocation.isAllocated;
  }

  /** Bytes of the whole block, also before it is allocated. */
  override get totalByteLength(): number {
    return this.#allocation.requestedBytes;
  }

  /** The memory, for copies and kernels; allocates it when that was not done. */
  override get span(): MemorySpan {
    this.ensureAllocated();
    return super.span;
  }

  /**
   * Takes the memory now, unless that was done. The elements are whatever was there before.
   *
   * @throws OutOfMemoryError with all amounts; a later call tries again.
   */
  ensureAllocated(): this {
    if (this.disposed) throw new DisposedError(this.toString());
    this.#allocation.ensure();
    return this;
  }

  /** Gives the address away, allocating first; see {@link GpuBuffer.release}. */
  override release(): bigint {
    if (!this.isView) this.ensureAllocated();
    return super.release();
  }

  /** Shows the same bytes as another element type; see {@link GpuBuffer.as}. */
  override as<E extends DType>(dtype: E): LazyBuffer<E> {
    return super.as(dtype) as LazyBuffer<E>;
  }

  /** Shows the buffer on a console, and takes no memory. */
  [Symbol.for("Deno.customInspect")](): string {
    if (this.disposed) return `${this} disposed`;
    const state = this.isAllocated ? "" : ", not allocated yet";
    return `${this} ${formatBytes(this.byteLength)} on device ${this.deviceOrdinal}${state}`;
  }

  /**
   * Allocates a buffer of the same kind.
   *
   * @internal
   */
  protected [ALLOCATE_LIKE](request: DeviceBufferRequest<D>): LazyBuffer<D> {
    return LazyBuffer.plan(request);
  }
}
