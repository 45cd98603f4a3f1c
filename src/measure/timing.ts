// How long the GPU takes for a piece of work, by events on its stream.

import { CudaEvent } from "../event.ts";
import { CALLBACK, requireKind } from "../options.ts";
import type { CudaStream } from "../stream.ts";

/** What `gpu.time()` measured. */
export class Timing {
  /** Time between the two events on the GPU's clock, in seconds. */
  readonly gpuSeconds: number;
  /** Time that the calls took on the host, in seconds, waiting included. */
  readonly hostSeconds: number;
  /** Bytes of all copies that the work queued. */
  readonly copiedBytes: number;
  /** Copied bytes over GPU time, in GB/s (1 GB = 10^9 bytes). */
  readonly gigabytesPerSecond: number;

  /** Takes what was measured. */
  constructor({ gpuSeconds, hostSeconds, copiedBytes, gigabytesPerSecond }: Timing) {
    this.gpuSeconds = gpuSeconds;
    this.hostSeconds = hostSeconds;
    this.copiedBytes = copiedBytes;
    this.gigabytesPerSecond = gigabytesPerSecond;
  }
}

/**
 * Runs `work` between two events of `stream` and waits for the second (cuEventElapsedTime). What
 * `work` queues on other streams is counted only as far as `stream` waits for it.
 */
export async function timeOnStream(
  stream: CudaStream,
  work: () => unknown,
): Promise<Timing> {
  requireKind(work, CALLBACK, "time");
  const { context } = stream;
  using start = CudaEvent.create(context);
  using end = CudaEvent.create(context);
  const bytesBefore = context.copiedBytes;
  const hostStart = performance.now();
  stream.record(start);
  await work();
  stream.record(end);
  await end.synchronize();
  const hostSeconds = (performance.now() - hostStart) / 1000;
  const gpuSeconds = end.secondsSince(start);
  const copiedBytes = context.copiedBytes - bytesBefore;
  const gigabytesPerSecond = gpuSeconds > 0 ? copiedBytes / gpuSeconds / 1e9 : 0;
  return new Timing({ gpuSeconds, hostSeconds, copiedBytes, gigabytesPerSecond });
}
