// Downloads into page-locked memory that is used again: no page is faulted in, nothing is staged.

import type { DType } from "../dtype.ts";
import { ContextPinnedPool } from "../memory/context_pinned_pool.ts";
import { CudaStream } from "../stream.ts";
import type { AllocateOptions } from "./device_allocator.ts";
import type { GpuBuffer } from "./gpu_buffer.ts";
import { PinnedBuffer } from "./pinned_buffer.ts";
import { StridedView } from "./strided_view.ts";

/** Copies the elements of `source` into page-locked memory of the context's pool, and waits. */
export async function downloadPinned<D extends DType>(
  source: GpuBuffer<D> | StridedView<D>,
  options: AllocateOptions,
): Promise<PinnedBuffer<D>> {
  const { dtype, shape } = source;
  const { context } = source instanceof StridedView ? source.buffer : source;
  const { stream = CudaStream.default(context), label } = options;
  const { resource = ContextPinnedPool.of(context) } = options;
  const host = PinnedBuffer.allocate({ dtype, shape, resource, stream, label });
  try {
    host.copyFrom(source, { stream });
    using copied = stream.record();
    await copied.synchronize();
    return host;
  } catch (error) {
    host.dispose();
    throw error;
  }
}
