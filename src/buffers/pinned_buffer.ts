// Page-locked host memory as a typed array: the source and destination of queued copies.

import { ALLOCATE_LIKE } from "./gpu_buffer.ts";
import type { DType } from "../dtype.ts";
import { Allocation } from "../memory/allocation.ts";
import { requireHostMemory, showToHost } from "../memory/host_bytes.ts";
import { hostAddressOf, kindOf } from "../memory/resource_kind.ts";
import type { DeviceBufferRequest } from "./device_buffer.ts";
import { HostBuffer } from "./host_buffer.ts";
import { byteLengthOf, toShape } from "./shape.ts";

/** Page-locked host memory that the GPU copies at the speed of the bus. */
export class PinnedBuffer<D extends DType = DType> extends HostBuffer<D> {
  /** Allocates page-locked memory; the elements are whatever was there before. */
  static allocate<D extends DType>(request: DeviceBufferRequest<D>): PinnedBuffer<D> {
    const { dtype, resource, stream, label } = request;
    const shape = toShape(request.shape);
    requireHostMemory(resource, "allocate page-locked memory");
    const byteLength = byteLengthOf(dtype, shape);
    const kind = kindOf(resource);
    const allocation = Allocation.create({ kind, byteLength, resource, stream, label });
    const bytes = showToHost(allocation, hostAddressOf(resource, allocation.address));
    const token = { allocation };
    allocation.guard(token);
    const fields = { allocation, token, dtype, shape, byteOffset: 0, isView: false };
    return new PinnedBuffer({ ...fields, bytes });
  }

  /** Shows the same bytes as another element type; see {@link HostBuffer.as}. */
  override as<E extends DType>(dtype: E): PinnedBuffer<E> {
    return super.as(dtype) as PinnedBuffer<E>;
  }

  /**
   * Allocates a buffer of the same kind.
   *
   * @internal
   */
  protected [ALLOCATE_LIKE](request: DeviceBufferRequest<D>): PinnedBuffer<D> {
    return PinnedBuffer.allocate(request);
  }
}
