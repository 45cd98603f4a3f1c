// Page-locked host memory as a typed array: the source and destination of queued copies.

import type { DType } from "../dtype.ts";
import { requireHostMemory } from "../memory/host_bytes.ts";
import { PinnedPool } from "../memory/pinned_pool.ts";
import { kindOf } from "../memory/resource_kind.ts";
import { requireNoCapture } from "../order/capture.ts";
import { streamOn } from "../order/stream_choice.ts";
import { finishedLater } from "../words/finished.ts";
import { describeValue } from "../words/format.ts";
import { comesFrom, Parts } from "../words/parts.ts";
import { ALLOCATE_LIKE, GpuBuffer } from "./gpu_buffer.ts";
import { HostBuffer, type HostBufferFields, hostFields } from "./host_buffer.ts";
import type { AllocateOptions, BufferRequest } from "./place_options.ts";
import type { BUFFER_KIND } from "./retyped.ts";
import { StridedView } from "./strided_view.ts";

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
  /** @ignore Its kind, for types. */
  declare readonly [BUFFER_KIND]: `host pinned${string}`;
  /** @ignore Allocates a buffer of the same kind. */
  protected [ALLOCATE_LIKE](request: BufferRequest<D>): PinnedBuffer<D> {
    return allocatePinnedBuffer(request, this.constructor as typeof PinnedBuffer<D>);
  }
}

comesFrom(PinnedBuffer, "gpu.pinned()");

/** Allocates page-locked memory. The elements keep whatever was there before. */
export function allocatePinnedBuffer<D extends DType, B extends PinnedBuffer<D> = PinnedBuffer<D>>(
  request: BufferRequest<D>,
  Kind: new (parts: Parts<HostBufferFields<D>>) => B = PinnedBuffer as never,
): B {
  const { resource } = request;
  requireHostMemory(resource, "allocate page-locked memory");
  return new Kind(new Parts(hostFields(request, kindOf(resource))));
}

/** Copies the elements of `source` into page-locked memory of the context's pool. */
export async function downloadPinned<D extends DType>(
  source: GpuBuffer<D> | StridedView<D>,
  options: AllocateOptions,
): Promise<PinnedBuffer<D>> {
  if (!(source instanceof GpuBuffer || source instanceof StridedView)) {
    throw new TypeError(
      `Cannot download ${describeValue(source)}: expected a buffer or a strided view`,
    );
  }
  requireNoCapture("download into page-locked memory");
  const { dtype, shape, context } = source;
  const stream = streamOn(context, options, source);
  const { resource = PinnedPool.of(context), label } = options;
  const host = allocatePinnedBuffer<D>({ dtype, shape, resource, stream, label });
  return await finishedLater(host, async () => {
    host.copyFrom(source, { stream });
    using copied = stream.record();
    await copied.synchronize();
  });
}
