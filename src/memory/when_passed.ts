// Work for the host to do once the GPU has passed a point: freeing what a queued copy still uses.

import { type KeptBlock, KeptMemory } from "../accounting/kept_memory.ts";
import { Fence } from "../fence.ts";
import { tryRelease } from "../release.ts";
import { CudaStream } from "../stream.ts";

/**
 * Runs `work`, which never throws, once the GPU has done all that `stream` has queued so far: at
 * once when it already has, else at a later allocation, release or synchronisation. Nothing waits,
 * unless the driver fails to mark the point.
 */
export function whenPassed(stream: CudaStream, work: () => void): void {
  const fence = fenceBehind(stream);
  if (fence === undefined) return work();
  stream.context.defer({
    isDue: () => fence.isPassed,
    wait: () => fence.waitSync(),
    run: () => {
      fence.dispose();
      work();
    },
  });
}

/** The same for a block that was freed: it counts as kept meanwhile. */
export function freeWhenPassed(stream: CudaStream, block: KeptBlock, free: () => void): void {
  const { ledger } = stream.context;
  let kept: KeptMemory | undefined;
  let isFreed = false;
  whenPassed(stream, () => {
    isFreed = true;
    kept?.delete(block);
    free();
  });
  if (isFreed) return;
  kept = KeptMemory.of(ledger, block.kind);
  kept.add(block);
}

/** A mark behind all that a stream has queued; undefined when the GPU has done it. */
function fenceBehind(stream: CudaStream): Fence | undefined {
  const { context } = stream;
  try {
    return stream.isQueueIdle ? undefined : Fence.behind(context, stream.queueHandle);
  } catch {
    // Work that failed was told to whoever waited for it.
    tryRelease(context.driver, "what the GPU still uses", () => context.waitForAll());
    return undefined;
  }
}

/** A stream that comes after another one's work: itself, or where it is gone the default one. */
export function orderedAfter(stream: CudaStream): CudaStream {
  try {
    return stream.orDefault();
  } catch {
    tryRelease(stream.context.driver, "what the GPU still uses", () => stream.context.waitForAll());
    return CudaStream.default(stream.context);
  }
}
