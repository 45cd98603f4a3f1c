// Work for the host to do once the GPU has passed a point: freeing what a queued copy still uses.

import { keptMemory } from "../accounting/kept_memory.ts";
import { type LedgerEntry, placeOf } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import type { DeferredMemory } from "../driver/deferred_work.ts";
import { tryRelease } from "../driver/release.ts";
import { Fence } from "../order/fence.ts";
import { type CudaStream, defaultStreamOf, queueOf, usableStream } from "../order/stream.ts";

/**
 * Runs `work`, which never throws, once all work queued on `stream` so far is done: at once if it
 * already is, else at a later allocation, release or synchronisation, or after a pause. Does not wait,
 * unless the driver fails to mark the point. `memory` is what the work gives back.
 */
export function whenPassed(stream: CudaStream, work: () => void, memory?: DeferredMemory): void {
  const fence = fenceBehind(stream);
  if (fence === undefined) work();
  else defer(stream.context, { fence, work, memory });
}

/** Frees a block once the work queued on `stream` is done; until then it counts as kept. */
export function freeWhenPassed(
  stream: CudaStream,
  { kind, byteLength }: Pick<LedgerEntry, "kind" | "byteLength">,
  free: () => void,
): void {
  const fence = fenceBehind(stream);
  if (fence === undefined) return free();
  const { context } = stream;
  const kept = keptMemory(context.ledger, kind);
  kept.byteLength += byteLength;
  const work = () => {
    kept.byteLength -= byteLength;
    free();
  };
  defer(context, { fence, work, memory: { place: placeOf(kind), byteLength } });
}

/** Returns a stream behind a stream's work: itself or, if it is gone, the default stream. */
export function orderedAfter(stream: CudaStream): CudaStream {
  const { context } = stream;
  try {
    return usableStream(stream);
  } catch {
    waitInstead(context);
    return defaultStreamOf(context);
  }
}

/** Returns a fence behind a stream's queued work; undefined when that work is done. */
function fenceBehind(stream: CudaStream): Fence | undefined {
  const { context } = stream;
  try {
    return queueOf(stream).isIdle ? undefined : Fence.behind(context, queueOf(stream).handle);
  } catch {
    waitInstead(context);
    return undefined;
  }
}

function defer(
  context: Context,
  { fence, work, memory }: {
    readonly fence: Fence;
    readonly work: () => void;
    readonly memory: DeferredMemory | undefined;
  },
): void {
  context.defer({
    memory,
    isDue: () => fence.isPassed,
    wait: () => fence.waitSync(),
    hold: (streamHandle) => fence.hold(streamHandle),
    run: () => {
      fence.dispose();
      work();
    },
  });
}

/** Blocks instead, where the driver sets no mark; failed work was reported by others. */
function waitInstead(context: Context): void {
  tryRelease(context.driver, "what the GPU still uses", () => context.waitForAll());
}
