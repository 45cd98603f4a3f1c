// A buffer whose memory a graph has allocated, for suites that run over every kind of memory.

import type { AllocateOptions } from "../../src/buffers/place_options.ts";
import type { DeviceBuffer } from "../../src/buffers/device_buffer.ts";
import type { Shape } from "../../src/buffers/shape.ts";
import type { CudaDevice } from "../../src/device/device.ts";
import type { DType } from "../../src/dtype.ts";

/** Allocates in a graph, which was launched and is gone when the buffer is returned. */
export function allocateByGraph<D extends DType>(
  gpu: CudaDevice,
  request: { readonly dtype: D; readonly shape: number | Shape } & AllocateOptions,
): DeviceBuffer<D> {
  const { dtype, shape, ...options } = request;
  const made: DeviceBuffer<D>[] = [];
  using graph = gpu.capture(() => made.push(gpu.alloc(dtype, shape, options)), options);
  graph.launch();
  const [buffer] = made;
  if (buffer === undefined) throw new TypeError("Cannot happen: the function has run");
  return buffer;
}
