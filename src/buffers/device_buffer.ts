// Typed memory on the GPU: the buffer that most programs use for everything.

import type { DType } from "../dtype.ts";
import { GraphAllocation } from "../graph/graph_allocation.ts";
import { GraphMemoryResource } from "../graph/graph_memory_resource.ts";
import { Allocation } from "../memory/allocation.ts";
import { capturedMemory } from "../memory/captured_memory.ts";
import { ForeignMemoryResource } from "../memory/foreign_memory_resource.ts";
import type { ContextOwner } from "../memory/memory_resource.ts";
import { defaultDeviceResource } from "../memory/resource_choice.ts";
import { kindOf } from "../memory/resource_kind.ts";
import { comesFrom, Parts } from "../words/parts.ts";
import { ALLOCATE_LIKE } from "./gpu_buffer.ts";
import type { AllocateOptions, BufferRequest } from "./place_options.ts";
import { RemoteBuffer } from "./remote_buffer.ts";
import type { BUFFER_KIND } from "./retyped.ts";
import { byteLengthOf, requestedShape, type Shape } from "./shape.ts";

/**
 * Typed memory on the GPU, with an element type and a shape. {@link CudaDevice.alloc},
 * {@link CudaDevice.zeros} and {@link CudaDevice.upload} create one; `dispose()` or `using` frees it.
 * Views of it (`view()`, `subarray()`, `reshape()`) share its memory and copy nothing.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using matrix = gpu.zeros("float32", [2, 3], { label: "matrix" });
 * using row = matrix.view(1); // the second row, no copy
 * row.fill(5);
 * console.log(await matrix.download()); // Float32Array(6) [0, 0, 0, 5, 5, 5]
 * ```
 */
export class DeviceBuffer<D extends DType = DType> extends RemoteBuffer<D> {
  /** @ignore Its kind, for types. */
  declare readonly [BUFFER_KIND]: "device";
  /**
   * @ignore Allocates a buffer of the same kind, from the same resource unless a capture forbids
   * it, or that is somebody else's.
   */
  protected [ALLOCATE_LIKE](request: BufferRequest<D>): DeviceBuffer<D> {
    const { stream, resource: own } = request;
    const isOnce = own instanceof GraphMemoryResource || own instanceof ForeignMemoryResource;
    const resource = isOnce ? defaultDeviceResource(stream) : own;
    return allocateDeviceBuffer({ ...request, resource, isDefault: true });
  }
}

comesFrom(DeviceBuffer, "gpu.alloc(), gpu.zeros() and gpu.upload()");

/** An object that allocates device memory: a device, or a stand-in for one. */
export interface DeviceAllocator extends ContextOwner {
  /** Allocates device memory; the elements keep whatever was there before. */
  alloc<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options?: AllocateOptions,
  ): DeviceBuffer<D>;
}

/** Allocates a buffer. The elements keep whatever was there before. */
export function allocateDeviceBuffer<D extends DType>(request: BufferRequest<D>): DeviceBuffer<D> {
  const { dtype, stream, label } = request;
  const shape = requestedShape(request);
  const byteLength = byteLengthOf(dtype, shape);
  const captured = capturedMemory();
  const isRecorded = captured?.includes(stream) === true;
  const resource = isRecorded && request.isDefault === true
    ? new GraphMemoryResource(stream)
    : request.resource;
  const block = { kind: kindOf(resource), byteLength, resource, stream, label } as const;
  const allocation = isRecorded
    ? GraphAllocation.record(block, captured)
    : Allocation.create(block);
  return new DeviceBuffer(new Parts({ allocation, dtype, shape }));
}
