// The GPU time of a piece of work, measured by events on its stream.

import { cannotRecord, isCaptured } from "../order/capture.ts";
import { createEvent } from "../order/event.ts";
import type { CudaStream } from "../order/stream.ts";
import { runOnStreamAcrossAwait } from "../order/stream_choice.ts";
import { CALLBACK, requireKind } from "../words/options.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { speedOf } from "./samples.ts";

/** The result of {@link CudaDevice.time}: GPU time, host time and copied bytes of some work. */
export class Timing {
  /** Seconds between the two events, on the GPU's clock. */
  declare readonly gpuSeconds: number;
  /** Seconds that the calls took on the host, waiting included. */
  declare readonly hostSeconds: number;
  /** Bytes of all copies that the work queued. */
  declare readonly copiedBytes: number;
  /** Copied bytes divided by GPU time, in GB/s (1 GB = 10^9 bytes). */
  declare readonly gigabytesPerSecond: number;
  /** The GPU time is the simulated driver's, which models it. */
  declare readonly isModelled: boolean;

  /** @ignore Takes over values. */
  constructor(parts: Parts<Timing>) {
    Object.assign(this, partsOf(parts, new.target));
  }
}

comesFrom(Timing, "gpu.time()");

/**
 * Runs `work` between two events of `stream` and waits for the second (cuEventElapsedTime). Its calls use
 * `stream` when they name none; work on other streams counts only if `stream` waits for it.
 */
export async function timeOnStream(
  stream: CudaStream,
  work: () => unknown,
): Promise<Timing> {
  requireKind(work, CALLBACK, "time");
  if (isCaptured(stream)) throw cannotRecord(stream, "time work");
  const { context } = stream;
  using start = createEvent(context);
  using end = createEvent(context);
  const bytesBefore = context.copiedBytes;
  const hostStart = performance.now();
  stream.record(start);
  await runOnStreamAcrossAwait(stream, work);
  stream.record(end);
  await end.synchronize();
  const hostSeconds = (performance.now() - hostStart) / 1000;
  const gpuSeconds = end.secondsSince(start);
  const copiedBytes = context.copiedBytes - bytesBefore;
  const gigabytesPerSecond = speedOf(copiedBytes, gpuSeconds);
  const isModelled = context.driver.isSimulated;
  return new Timing(
    new Parts({ gpuSeconds, hostSeconds, copiedBytes, gigabytesPerSecond, isModelled }),
  );
}
