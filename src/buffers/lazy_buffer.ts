// Device memory that is allocated on first use, for plans that name more buffers than they use.

import type { DType } from "../dtype.ts";
import { LazyAllocation } from "../memory/lazy_allocation.ts";
import { kindOf } from "../memory/resource_kind.ts";
import type { MemorySpan } from "../transfer/copy.ts";
import { DisposedError } from "../words/errors.ts";
import { formatBytes } from "../words/format.ts";
import { Parts } from "../words/parts.ts";
import type { DeviceBufferRequest } from "./device_buffer.ts";
import { ALLOCATE_LIKE, type BufferFields, GpuBuffer } from "./gpu_buffer.ts";
import { byteLengthOf, toShape } from "./shape.ts";

/** The parts of a lazy buffer. */
export interface LazyBufferFields<D extends DType> extends BufferFields<D> {
  /** The block of memory, which may not be allocated yet. */
  readonly allocation: LazyAllocation;
}

/**
 * Device memory that is allocated on first use: by the first copy, fill, transfer, kernel or read
 * of `ptr`. Sizes, views and printing do not allocate it. Use it when a program plans more buffers
 * than it may need. {@link CudaDevice.lazy} creates one.
 */
export class LazyBuffer<D extends DType = DType> extends GpuBuffer<D> {
  readonly #allocation: LazyAllocation;

  /**
   * Adopts a block.
   *
   * @ignore
   */
  constructor(parts: Parts<LazyBufferFields<D>>) {
    super(parts);
    this.#allocation = parts.value.allocation;
  }

  /** Whether the memory was allocated; the same for a view and the whole block. */
  get isAllocated(): boolean {
    return this.#allocation.isAllocated;
  }

  /** Bytes of the whole block, also before it is allocated. */
  override get totalByteLength(): number {
    return this.#allocation.requestedBytes;
  }

  /** The memory, for copies and kernels; allocates it on first use. */
  override get span(): MemorySpan {
    this.ensureAllocated();
    return super.span;
  }

  /**
   * Allocates the memory now, unless that was done before. The elements keep whatever was there.
   *
   * @throws OutOfMemoryError with all amounts when the device has too little memory; a later call
   *   tries again.
   */
  ensureAllocated(): this {
    if (this.disposed) throw new DisposedError(this.toString());
    this.#allocation.ensure();
    return this;
  }

  /**
   * Hands over the address, allocating the memory first; see {@link GpuBuffer.release}.
   */
  override release(): bigint {
    if (!this.isView) this.ensureAllocated();
    return super.release();
  }

  /**
   * Returns a view of the same bytes as another element type; see {@link GpuBuffer.as}.
   */
  override as<E extends DType>(dtype: E): LazyBuffer<E> {
    return super.as(dtype) as LazyBuffer<E>;
  }

  /** Returns the text that the console shows; allocates nothing. */
  [Symbol.for("Deno.customInspect")](): string {
    if (this.disposed) return `${this} disposed`;
    const state = this.isAllocated ? "" : ", not allocated yet";
    return `${this} ${formatBytes(this.byteLength)} on device ${this.deviceOrdinal}${state}`;
  }

  /**
   * Allocates a buffer of the same kind.
   *
   * @ignore
   */
  protected [ALLOCATE_LIKE](request: DeviceBufferRequest<D>): LazyBuffer<D> {
    return planLazyBuffer(request);
  }
}

/** Creates a buffer without allocating its memory. */
export function planLazyBuffer<D extends DType>(request: DeviceBufferRequest<D>): LazyBuffer<D> {
  const { dtype, resource, stream, label } = request;
  const shape = toShape(request.shape);
  const byteLength = byteLengthOf(dtype, shape);
  const kind = kindOf(resource);
  const allocation = new LazyAllocation({ kind, byteLength, resource, stream, label });
  const token = { allocation };
  allocation.guard(token);
  const fields = { allocation, token, dtype, shape, byteOffset: 0, isView: false };
  return new LazyBuffer(new Parts(fields));
}
