// Writes and reads what any buffer holds, by queued copies to and from page-locked memory:
// the one way that every kind of buffer has.

import type { GpuBuffer } from "../../src/buffers/gpu_buffer.ts";
import { PinnedBuffer } from "../../src/buffers/pinned_buffer.ts";
import type { DType } from "../../src/dtype.ts";
import { PinnedHostMemoryResource } from "../../src/memory/pinned_host_memory_resource.ts";
import { CudaStream } from "../../src/stream.ts";

/** Writes bytes over a buffer's contents and waits. */
export function writeBytes<D extends DType>(buffer: GpuBuffer<D>, bytes: ArrayLike<number>): void {
  using host = hostFor(buffer);
  new Uint8Array(host.array.buffer).set(bytes);
  buffer.copyFrom(host);
  CudaStream.default(buffer.context).synchronizeSync();
}

/** Reads a buffer's bytes once what is queued on the default stream is done. */
export function readBytes<D extends DType>(buffer: GpuBuffer<D>): Uint8Array<ArrayBuffer> {
  using host = hostFor(buffer);
  buffer.copyTo(host);
  CudaStream.default(buffer.context).synchronizeSync();
  return new Uint8Array(new Uint8Array(host.array.buffer));
}

/** Bytes that differ from place to place and from seed to seed. */
export function patternBytes(byteLength: number, seed = 1): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: byteLength }, (_, index) => (index * 7 + (index >> 8) + seed));
}

function hostFor<D extends DType>(buffer: GpuBuffer<D>): PinnedBuffer<D> {
  const { context, dtype, shape } = buffer;
  const resource = new PinnedHostMemoryResource({ context });
  return PinnedBuffer.allocate({ dtype, shape, resource, stream: CudaStream.default(context) });
}
