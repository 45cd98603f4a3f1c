// Copies between many buffers in one go: the checks, and the spans for the layer below.

import { areIndependent } from "../copies/address_ranges.ts";
import {
  checkCopy,
  crossesDevices,
  MEMORY,
  type MemorySpan,
  noteCopy,
  orderCopy,
  queueCopy,
} from "../copies/copy.ts";
import { type ByteCopy, queueCopies } from "../copies/copy_many.ts";
import { capturedMemory } from "../memory/captured_memory.ts";
import { comesAfterNothing, queueInOrder } from "../memory/in_order.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import { describeValue } from "../words/format.ts";
import { ANYTHING, isIterable, isRecord, OptionSet } from "../words/options.ts";
import { otherType } from "./element.ts";
import { GpuBuffer } from "./gpu_buffer.ts";

/** One copy of a batch, between buffers or views of the same type and size. */
export interface BufferCopy {
  /** Buffer or view that is written. */
  readonly destination: GpuBuffer;
  /** Buffer or view that is read. */
  readonly source: GpuBuffer;
}

/**
 * Queues copies and does not wait (cuMemcpyBatchAsync, CUDA 12.8); see `gpu.copyBatch()`. The result is
 * the same as queueing them one after another, which is done for copies that depend on each other, cross
 * devices, or come during a capture.
 *
 * @throws TypeError when an item is not a pair of buffers, or the element types of a pair differ.
 * @throws RangeError when the sizes of a pair differ, or its ranges overlap; nothing is queued then.
 */
export function copyBatch(copies: Iterable<BufferCopy>, stream: CudaStream): void {
  if (!isIterable(copies)) {
    throw new TypeError("Cannot copy a batch: expected an array of { source, destination }");
  }
  // The program's iterable runs to its end first, because it may dispose buffers.
  const list = Array.from(copies, checkedPair);
  const spans = list.map(({ destination, source }) => ({
    destination: destination[MEMORY](),
    source: source[MEMORY](),
  }));
  for (const { destination, source } of spans) checkCopy(destination, source, stream);
  const full = spans.filter(({ source }) => source.byteLength > 0);
  const isTogether = capturedMemory() === undefined && areIndependent(full) &&
    !full.some((copy) => crossesDevices(routeOf(copy, stream)));
  if (!isTogether) {
    for (const { destination, source } of full) queueCopy(destination, source, stream);
    return;
  }
  const queue = () => {
    for (const copy of full) orderCopy(routeOf(copy, stream));
    const copies = full.map(({ destination, source }): ByteCopy => ({
      destination: destination.address,
      source: source.address,
      byteLength: source.byteLength,
    }));
    queueCopies(copies, queueOf(stream));
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

const PAIR = new OptionSet<BufferCopy>({ destination: ANYTHING, source: ANYTHING });

function checkedPair(copy: BufferCopy, index: number): BufferCopy {
  const pair = isRecord(copy) ? PAIR.read(copy, "copyBatch") : copy ?? {};
  const { destination, source }: Partial<BufferCopy> = pair;
  checkBuffer(destination, "destination", index);
  checkBuffer(source, "source", index);
  if (destination.dtype !== source.dtype) throw otherType(`copy ${source} into ${destination}`);
  return { destination, source };
}

function checkBuffer(value: unknown, side: string, index: number): asserts value is GpuBuffer {
  if (value instanceof GpuBuffer) return;
  throw new TypeError(
    `Cannot copy a batch: the ${side} of copy ${index} is ${describeValue(value)}, expected a ` +
      `buffer`,
  );
}

interface SpanCopy {
  readonly destination: MemorySpan;
  readonly source: MemorySpan;
}

function routeOf({ destination, source }: SpanCopy, stream: CudaStream) {
  return { destination: destination.allocation, source: source.allocation, stream };
}
