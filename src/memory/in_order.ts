// Calls that use memory come after transfers that were called before and are still under way, when
// they touch the same bytes. Nearly always there are none, and then this costs three comparisons.

import { activeCapture } from "../order/capture.ts";
import type { PendingWork } from "../order/pending_work.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import type { Allocation } from "./allocation.ts";
import { capturedMemory } from "./captured_memory.ts";
import type { PartUse } from "./stream_usage.ts";

/** A call's use of a part of a block. */
export interface MemoryUse extends PartUse {
  /** The block. */
  readonly allocation: Allocation;
}

/**
 * Makes a call that queues work on a stream: at once when nothing that it comes after is under way,
 * else when that is over. The blocks stay until then, also when they are disposed meanwhile. Work
 * for a graph is recorded at once.
 */
export function queueInOrder(
  stream: CudaStream,
  uses: readonly MemoryUse[],
  queue: () => void,
): void {
  if (isRecorded(stream, uses)) return queue();
  const earlier = pendingBefore(stream, uses);
  if (earlier.length === 0) return queue();
  for (const { allocation, access } of uses) allocation.checkUse(access);
  const work = queueOf(stream).postpone(queue, earlier);
  if (!work.isOver) keepFor(work, stream, uses);
}

/** Returns whether a call on a stream that uses these blocks comes after nothing that is under way. */
export function comesAfterNothing(
  stream: CudaStream,
  block: Allocation,
  other: Allocation | undefined = block,
): boolean {
  return queueOf(stream).lastPostponed === undefined && !block.usage.hasPending &&
    !other.usage.hasPending;
}

/** The calls under way that a call on a stream comes after. */
export function pendingBefore(stream: CudaStream, uses: readonly MemoryUse[]): PendingWork[] {
  const { lastPostponed } = queueOf(stream);
  const earlier = lastPostponed === undefined ? [] : [lastPostponed];
  for (const use of uses) {
    const { usage } = use.allocation;
    if (usage.hasPending) earlier.push(...usage.pendingBefore(stream, use));
  }
  return earlier;
}

/** The calls under way that the host comes after when it uses these blocks, if any. */
export function pendingBeforeHost(stream: CudaStream, uses: readonly MemoryUse[]): PendingWork[] {
  return uses.length === 0 ? [] : pendingBefore(stream, uses);
}

/** Notes the memory that a transfer will use, and keeps the blocks until it is over. */
export function keepFor(work: PendingWork, stream: CudaStream, uses: readonly MemoryUse[]): void {
  let keptCount = 0;
  work.whenOver(() => {
    for (const { allocation } of uses.slice(0, keptCount)) {
      allocation.usage.endPending(work);
      allocation.letGo();
    }
  });
  for (const use of uses) {
    const { allocation } = use;
    allocation.keep();
    allocation.usage.addPending(work, stream, use);
    keptCount++;
  }
}

/**
 * Keeps the blocks of a transfer that is in nobody's order until it is over: a program that gives back
 * all that is live reaches new memory, too. Blocks that are released are kept by the work that it is a
 * part of.
 */
export function holdFor(work: PendingWork, uses: readonly MemoryUse[]): void {
  const held = uses.map(({ allocation }) => allocation)
    .filter(({ released, isLeaving }) => !released || isLeaving);
  for (const allocation of held) allocation.keep();
  work.whenOver(() => held.forEach((allocation) => allocation.letGo()));
}

function isRecorded(stream: CudaStream, uses: readonly MemoryUse[]): boolean {
  if (activeCapture() === undefined) return false;
  const captured = capturedMemory();
  return uses.some(({ allocation }) => captured?.records(allocation, stream) === true);
}
