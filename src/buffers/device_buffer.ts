// Typed memory on the GPU: the buffer that most programs use for everything.

import type { DType, HostValue, ScalarOf } from "../dtype.ts";
import { GraphAllocation } from "../graph/graph_allocation.ts";
import { GraphMemoryResource, resourceFor } from "../graph/graph_memory_resource.ts";
import { Allocation } from "../memory/allocation.ts";
import { capturedMemory } from "../memory/captured_memory.ts";
import { ForeignMemoryResource } from "../memory/foreign_memory_resource.ts";
import { defaultDeviceResource } from "../memory/resource_choice.ts";
import { kindOf } from "../memory/resource_kind.ts";
import type { TransferChoice } from "../transfer/transfer_choice.ts";
import { comesFrom, Parts } from "../words/parts.ts";
import type { BufferRequest } from "./buffer_request.ts";
import { ALLOCATE_LIKE, type AsTypeOptions, GpuBuffer, type Uploadable } from "./gpu_buffer.ts";
import type { HostValues } from "./host_values.ts";
import { setElements } from "./set_elements.ts";
import { byteLengthOf, requestedShape } from "./shape.ts";

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
export class DeviceBuffer<D extends DType = DType> extends GpuBuffer<D> {
  /** Returns a view of the same bytes as another element type; see {@link GpuBuffer.as}. */
  override as<E extends DType>(dtype: E): DeviceBuffer<E> {
    return super.as(dtype) as DeviceBuffer<E>;
  }

  /** Queues converting the elements, into a buffer of the same kind; see {@link GpuBuffer.astype}. */
  override astype<E extends DType, B = undefined>(
    dtype: E,
    options?: AsTypeOptions<NoInfer<E>, B>,
  ): B extends object ? B : DeviceBuffer<E> {
    return super.astype(dtype, options) as B extends object ? B : DeviceBuffer<E>;
  }

  /**
   * Copies host values into the elements from `offset` on, by TypedArray.set's rules: a typed array of
   * the element type, or plain numbers. Resolves when they are there.
   *
   * @throws RangeError when they do not fit in, also a number that the element type does not hold.
   * @throws TypeError for an array of another type.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto" });
   * using x = gpu.zeros("int32", 5);
   * await x.set([7, 8], 2);
   * console.log(await x.download()); // Int32Array(5) [0, 0, 7, 8, 0]
   * ```
   */
  async set(
    source: Uploadable<D> | HostValues<ScalarOf<D> | HostValue<D>>,
    offset: number = 0,
    options: TransferChoice = {},
  ): Promise<this> {
    await setElements(this, { source, offset }, options);
    return this;
  }

  /**
   * @ignore Allocates a buffer of the same kind, from the same resource unless a capture forbids
   * it, or that is somebody else's.
   */
  protected [ALLOCATE_LIKE](request: BufferRequest<D>): DeviceBuffer<D> {
    const { stream, resource: own } = request;
    const isOnce = own instanceof GraphMemoryResource || own instanceof ForeignMemoryResource;
    const lasting = isOnce ? defaultDeviceResource(stream) : own;
    return allocateDeviceBuffer({ ...request, resource: resourceFor(stream, lasting) });
  }
}

comesFrom(DeviceBuffer, "gpu.alloc(), gpu.zeros() and gpu.upload()");

/** Allocates a buffer. The elements keep whatever was there before. */
export function allocateDeviceBuffer<D extends DType>(
  request: BufferRequest<D>,
): DeviceBuffer<D> {
  const { dtype, resource, stream, label } = request;
  const shape = requestedShape(request);
  const byteLength = byteLengthOf(dtype, shape);
  const block = { kind: kindOf(resource), byteLength, resource, stream, label } as const;
  const captured = capturedMemory();
  const allocation = captured?.includes(stream)
    ? GraphAllocation.record(block, captured)
    : Allocation.create(block);
  return new DeviceBuffer(new Parts({ allocation, dtype, shape }));
}
