// Downloads into page-locked memory that is reused, so no page is faulted in and nothing is staged.

import type { DType } from "../dtype.ts";
import { PinnedPool } from "../memory/pinned_pool.ts";
import { requireNoCapture } from "../order/capture.ts";
import { streamOn } from "../order/stream_choice.ts";
import { describeValue } from "../words/format.ts";
import { GpuBuffer } from "./gpu_buffer.ts";
import { allocatePinnedBuffer, type PinnedBuffer } from "./pinned_buffer.ts";
import type { AllocateOptions } from "./place_options.ts";
import { StridedView } from "./strided_view.ts";

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
  const host = allocatePinnedBuffer({ dtype, shape, resource, stream, label });
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
