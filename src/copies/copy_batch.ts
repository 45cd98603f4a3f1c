// Many copies at once: one driver call when the driver has it, one call each otherwise.

import { capturedMemory } from "../memory/captured_memory.ts";
import { comesAfterNothing, queueInOrder } from "../memory/in_order.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import { areIndependent } from "./address_ranges.ts";
import {
  checkCopy,
  crossesDevices,
  type MemorySpan,
  noteCopy,
  orderCopy,
  queueCopy,
} from "./copy.ts";
import { type ByteCopy, queueCopies } from "./copy_many.ts";

/** One copy of a batch. */
export interface SpanCopy {
  /** Memory that is written. */
  readonly destination: MemorySpan;
  /** Memory that is read. */
  readonly source: MemorySpan;
}

/**
 * Queues copies and does not wait (cuMemcpyBatchAsync, CUDA 12.8). The result is the same as
 * queueing them one after another, which is done for copies that depend on each other, cross
 * devices, or come during a capture.
 *
 * @throws RangeError when the sizes of a pair differ, or its ranges overlap; nothing is queued
 *   then.
 */
export function queueCopyBatch(copies: readonly SpanCopy[], stream: CudaStream): void {
  for (const { destination, source } of copies) checkCopy(destination, source, stream);
  const full = copies.filter(({ source }) => source.byteLength > 0);
  const isTogether = capturedMemory() === undefined && areIndependent(full) &&
    !full.some((copy) => crossesDevices(routeOf(copy, stream)));
  if (!isTogether) {
    for (const { destination, source } of full) queueCopy(destination, source, stream);
    return;
  }
  const queue = () => {
    for (const copy of full) orderCopy(routeOf(copy, stream));
    queueCopies(full.map(bytesOfCopy), queueOf(stream));
    for (const copy of full) noteCopy(routeOf(copy, stream), copy.source.byteLength);
  };
  const isFree = full.every(({ destination, source }) =>
    comesAfterNothing(stream, destination.allocation, source.allocation)
  );
  if (isFree) return queue();
  const uses = full.flatMap(({ destination, source }) => [
    { ...destination, access: "write" } as const,
    { ...source, access: "read" } as const,
  ]);
  queueInOrder(stream, uses, queue);
}

function bytesOfCopy({ destination, source }: SpanCopy): ByteCopy {
  return {
    destination: destination.address,
    source: source.address,
    byteLength: source.byteLength,
  };
}

function routeOf({ destination, source }: SpanCopy, stream: CudaStream) {
  return { destination: destination.allocation, source: source.allocation, stream };
}
