// Memory on the GPU: the kind that most programs use for everything.

import { ALLOCATE_LIKE, GpuBuffer } from "./gpu_buffer.ts";
import type { DType } from "../dtype.ts";
import { Allocation } from "../memory/allocation.ts";
import { capturedMemory } from "../memory/captured_memory.ts";
import { defaultDeviceResource } from "../memory/default_resource.ts";
import { GraphAllocation } from "../memory/graph_allocation.ts";
import { GraphMemoryResource, resourceFor } from "../memory/graph_memory_resource.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { kindOf } from "../memory/resource_kind.ts";
import type { CudaStream } from "../stream.ts";
import { byteLengthOf, type Shape, toShape } from "./shape.ts";

/** What to allocate on a device. */
export interface DeviceBufferRequest<D extends DType> {
  /** The element type. */
  readonly dtype: D;
  /** Sizes along each axis, or one length. */
  readonly shape: number | Shape;
  /** The stream that may use it first. */
  readonly stream: CudaStream;
  /** Where the memory comes from. */
  readonly resource: MemoryResource;
  /** A name for tables and errors. */
  readonly label?: string | undefined;
}

/** Typed memory on the GPU. */
export class DeviceBuffer<D extends DType = DType> extends GpuBuffer<D> {
  /** Allocates without setting a value: the elements are whatever was there before. */
  static allocate<D extends DType>(request: DeviceBufferRequest<D>): DeviceBuffer<D> {
    const { dtype, resource, stream, label } = request;
    const shape = toShape(request.shape);
    const byteLength = byteLengthOf(dtype, shape);
    const block = { kind: kindOf(resource), byteLength, resource, stream, label } as const;
    const captured = capturedMemory();
    const allocation = captured?.includes(stream)
      ? GraphAllocation.record(block, captured)
      : Allocation.create(block);
    const buffer = new DeviceBuffer({ allocation, dtype, shape, byteOffset: 0, isView: false });
    allocation.guard(buffer);
    return buffer;
  }

  /** Shows the same bytes as another element type; see {@link GpuBuffer.as}. */
  override as<E extends DType>(dtype: E): DeviceBuffer<E> {
    return super.as(dtype) as DeviceBuffer<E>;
  }

  /**
   * Allocates a buffer of the same kind, and of the same resource where a capture allows it.
   *
   * @internal
   */
  protected [ALLOCATE_LIKE](request: DeviceBufferRequest<D>): DeviceBuffer<D> {
    const { stream, resource: own } = request;
    const lasting = own instanceof GraphMemoryResource ? defaultDeviceResource(stream) : own;
    return DeviceBuffer.allocate({ ...request, resource: resourceFor(stream, lasting) });
  }
}
