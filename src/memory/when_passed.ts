// Work for the host to do once the GPU has passed a point: freeing what a queued copy still uses.

import { Fence } from "../fence.ts";
import type { CudaStream } from "../stream.ts";

/**
 * Runs `work`, which never throws, once the GPU has done all that `stream` has queued so far: at
 * once when it already has, else at a later allocation or release. Nothing waits.
 */
export function whenPassed(stream: CudaStream, work: () => void): void {
  if (stream.isQueueIdle) return work();
  const { context } = stream;
  const fence = new Fence(context);
  fence.set(stream.queueHandle);
  context.defer({
    isDue: () => fence.isPassed,
    run: () => {
      fence.dispose();
      work();
    },
  });
}
