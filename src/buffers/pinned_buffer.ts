// Page-locked host memory as a typed array: the source and destination of queued copies.

import type { DType } from "../dtype.ts";
import { Allocation } from "../memory/allocation.ts";
import { requireHostMemory, showToHost } from "../memory/host_bytes.ts";
import { hostAddressOf, kindOf } from "../memory/resource_kind.ts";
import { comesFrom, Parts } from "../words/parts.ts";
import type { BufferRequest } from "./buffer_request.ts";
import { ALLOCATE_LIKE, type AsTypeOptions } from "./gpu_buffer.ts";
import { HostBuffer } from "./host_buffer.ts";
import { byteLengthOf, requestedShape } from "./shape.ts";

/**
 * Page-locked host memory, which the GPU copies at the full speed of the bus without blocking the
 * program. `array` is a typed array over the memory. Use it for data that moves to or from the GPU
 * often; {@link CudaDevice.pinned} allocates one.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using host = gpu.pinned("float32", 3);
 * using device = gpu.alloc("float32", 3);
 * host.array.set([1, 2, 3]);
 * device.copyFrom(host); // queued
 * device.copyTo(host); // queued behind it
 * await gpu.synchronize();
 * console.log(host.array); // Float32Array(3) [1, 2, 3]
 * ```
 */
export class PinnedBuffer<D extends DType = DType> extends HostBuffer<D> {
  /** Returns a view of the same bytes as another element type; see {@link GpuBuffer.as}. */
  override as<E extends DType>(dtype: E): PinnedBuffer<E> {
    return super.as(dtype) as PinnedBuffer<E>;
  }

  /** Queues converting the elements, into a buffer of the same kind; see {@link GpuBuffer.astype}. */
  override astype<E extends DType, B = undefined>(
    dtype: E,
    options?: AsTypeOptions<NoInfer<E>, B>,
  ): B extends object ? B : PinnedBuffer<E> {
    return super.astype(dtype, options) as B extends object ? B : PinnedBuffer<E>;
  }

  /** @ignore Allocates a buffer of the same kind. */
  protected [ALLOCATE_LIKE](request: BufferRequest<D>): PinnedBuffer<D> {
    return allocatePinnedBuffer(request);
  }
}

comesFrom(PinnedBuffer, "gpu.pinned()");

/** Allocates page-locked memory. The elements keep whatever was there before. */
export function allocatePinnedBuffer<D extends DType>(
  request: BufferRequest<D>,
): PinnedBuffer<D> {
  const { dtype, resource, stream, label } = request;
  const shape = requestedShape(request);
  requireHostMemory(resource, "allocate page-locked memory");
  const byteLength = byteLengthOf(dtype, shape);
  const kind = kindOf(resource);
  const allocation = Allocation.create({ kind, byteLength, resource, stream, label });
  const bytes = showToHost(allocation, hostAddressOf(resource, allocation.address));
  return new PinnedBuffer(new Parts({ allocation, dtype, shape, bytes }));
}
