// Makes calls that use memory come after earlier transfers that are still under way and touch the
// same bytes. Nearly always there are none, and then this costs three comparisons.

import { activeCapture } from "../order/capture.ts";
import { finishNow, type PendingWork } from "../order/pending_work.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import type { CallFailure } from "../order/stream_queue.ts";
import type { Allocation } from "./allocation.ts";
import { capturedMemory } from "./captured_memory.ts";
import type { Action } from "./host_memory.ts";
import type { PartUse } from "./stream_usage.ts";

/** A call's use of a part of a block. */
export interface MemoryUse extends PartUse {
  readonly allocation: Allocation;
}

/**
 * Makes a call that queues work on a stream: at once when nothing that it must come after is under
 * way, otherwise when that is over. The blocks are kept until then, even when they are disposed
 * meanwhile. Work for a graph is recorded at once.
 */
export function queueInOrder(
  stream: CudaStream,
  uses: readonly MemoryUse[],
  queue: () => void,
): void {
  if (isRecorded(stream, uses)) return queue();
  const earlier = pendingBefore(stream, uses);
  if (earlier.length === 0) queue();
  else postponeFor(stream, uses, { queue, earlier });
}

/**
 * Queues work on a stream once `earlier` is over, and keeps the blocks until then. When that fails,
 * whoever reads what it was to write is told.
 */
export function postponeFor(
  stream: CudaStream,
  uses: readonly MemoryUse[],
  { queue, earlier }: { readonly queue: () => void; readonly earlier: Iterable<PendingWork> },
): PendingWork {
  for (const { allocation, access } of uses) allocation.checkUse(access);
  const work = queueOf(stream).postpone(queue, earlier, (failure) => noteFailure(failure, uses));
  if (!work.isOver) keepFor(work, stream, uses);
  return work;
}

/** Notes that a postponed call with these uses has failed. */
export function noteFailure(failure: CallFailure, uses: readonly MemoryUse[]): void {
  for (const { allocation, access } of uses) allocation.usage.noteFailure(failure, access);
}

/** Returns whether a call on a stream that uses these blocks need not wait for anything under way. */
export function comesAfterNothing(
  stream: CudaStream,
  block: Allocation,
  other: Allocation | undefined = block,
): boolean {
  return queueOf(stream).lastPostponed === undefined && !block.usage.hasPending &&
    !other.usage.hasPending;
}

/** Returns the calls under way that a call on a stream must come after. */
export function pendingBefore(stream: CudaStream, uses: readonly MemoryUse[]): PendingWork[] {
  const { lastPostponed } = queueOf(stream);
  const earlier = lastPostponed === undefined ? [] : [lastPostponed];
  for (const use of uses) {
    const { usage } = use.allocation;
    if (usage.hasPending) earlier.push(...usage.pendingBefore(stream, use));
  }
  return earlier;
}

/**
 * Blocks until the host may use a part of a block: the calls that it comes after are over, and the GPU is
 * done with the block. While a stream is being captured the host cannot wait.
 *
 * @throws TypeError when such a call needs the event loop.
 */
export function finishUses(use: MemoryUse, stream: CudaStream, action: Action): void {
  if (activeCapture !== undefined) return;
  const { usage } = use.allocation;
  if (usage.hasPending) finishNow(usage.pendingBefore(stream, use), `${action}`);
  usage.waitSync(use.access);
}

/** Returns the calls under way that the host must wait for before it uses these blocks. */
export function pendingBeforeHost(stream: CudaStream, uses: readonly MemoryUse[]): PendingWork[] {
  return uses.length === 0 ? [] : pendingBefore(stream, uses);
}

/**
 * Notes the memory that a transfer will use, and keeps the blocks until it is over. `isAfterAll` says that
 * it comes after all calls noted before that it must come after.
 */
export function keepFor(
  work: PendingWork,
  stream: CudaStream,
  uses: readonly MemoryUse[],
  { isAfterAll = false } = {},
): void {
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
    allocation.usage.addPending(work, stream, { ...use, isAfterAll });
    keptCount++;
  }
}

/**
 * Keeps the blocks of a transfer that has no place in the order of calls until it is over: a program
 * that disposes everything alive would reach new memory, too. Released blocks are kept by the work
 * that the transfer is part of.
 */
export function holdFor(work: PendingWork, uses: readonly MemoryUse[]): void {
  const held = uses.map(({ allocation }) => allocation).filter(({ canBeKept }) => canBeKept);
  for (const allocation of held) allocation.keep();
  work.whenOver(() => held.forEach((allocation) => allocation.letGo()));
}

/** Returns whether a call that uses these blocks belongs to the graph that is being recorded. */
export function isRecorded(stream: CudaStream, uses: readonly MemoryUse[]): boolean {
  if (activeCapture === undefined) return false;
  const captured = capturedMemory();
  return uses.some(({ allocation }) => captured?.records(allocation, stream) === true);
}
