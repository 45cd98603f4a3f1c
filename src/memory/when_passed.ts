// Work for the host to do once the GPU has passed a point: freeing what a queued copy still uses.

import { type KeptBlock, KeptMemory } from "../accounting/kept_memory.ts";
import type { Context } from "../driver/context.ts";
import { tryRelease } from "../driver/release.ts";
import { Fence } from "../order/fence.ts";
import { type CudaStream, defaultStreamOf, queueOf, usableStream } from "../order/stream.ts";

/**
 * Runs `work`, which never throws, once the GPU has done all that `stream` has queued so far. That
 * is at once when it already has, else at a later allocation, release or synchronisation. Nothing
 * waits, unless the driver fails to mark the point.
 */
export function whenPassed(stream: CudaStream, work: () => void): void {
  const fence = fenceBehind(stream);
  if (fence === undefined) work();
  else defer(stream.context, { fence, work });
}

/** Frees a block as {@link whenPassed} runs work; until then it counts as kept. */
export function freeWhenPassed(stream: CudaStream, block: KeptBlock, free: () => void): void {
  const fence = fenceBehind(stream);
  if (fence === undefined) return free();
  const { context } = stream;
  const kept = KeptMemory.of(context.ledger, block.kind);
  kept.add(block);
  const work = () => {
    kept.delete(block);
    free();
  };
  defer(context, { fence, work });
}

/** A stream that comes after another one's work: itself, or where it is gone the default one. */
export function orderedAfter(stream: CudaStream): CudaStream {
  const { context } = stream;
  try {
    return usableStream(stream);
  } catch {
    waitInstead(context);
    return defaultStreamOf(context);
  }
}

/** A mark behind all that a stream has queued; undefined when the GPU has done it. */
function fenceBehind(stream: CudaStream): Fence | undefined {
  const { context } = stream;
  try {
    return queueOf(stream).isIdle ? undefined : Fence.behind(context, queueOf(stream).handle);
  } catch {
    waitInstead(context);
    return undefined;
  }
}

function defer(context: Context, { fence, work }: { fence: Fence; work: () => void }): void {
  context.defer({
    isDue: () => fence.isPassed,
    wait: () => fence.waitSync(),
    hold: (streamHandle) => fence.hold(streamHandle),
    run: () => {
      fence.dispose();
      work();
    },
  });
}

/** Blocks where the driver sets no mark; work that failed was told to whoever waited for it. */
function waitInstead(context: Context): void {
  tryRelease(context.driver, "what the GPU still uses", () => context.waitForAll());
}
