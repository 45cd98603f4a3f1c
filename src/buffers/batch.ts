// Copies between many buffers in one go: the checks, and the spans for the layer below.

import { queueCopyBatch } from "../copies/copy_batch.ts";
import type { CudaStream } from "../order/stream.ts";
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
 * Queues copies and does not wait, in one driver call when the driver has it; see
 * `gpu.copyBatch()`.
 *
 * @throws TypeError when an item is not a pair of buffers, or the element types of a pair differ.
 * @throws RangeError when the sizes of a pair differ; nothing is queued then.
 */
export function copyBatch(copies: Iterable<BufferCopy>, stream: CudaStream): void {
  if (!isIterable(copies)) {
    throw new TypeError("Cannot copy a batch: expected an array of { source, destination }");
  }
  // The program's iterable runs to its end first, because it may dispose buffers.
  const list = Array.from(copies, checkedPair);
  const spans = list.map(({ destination, source }) => ({
    destination: destination.span,
    source: source.span,
  }));
  queueCopyBatch(spans, stream);
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
