// Many copies at once: one call of the driver's where it has it, one call each where it has not.

import { CUmemcpySrcAccessOrder } from "../../ffi/constants.ts";
import { CUmemcpyAttributes } from "../../ffi/structs.ts";
import type { CudaStream } from "../stream.ts";
import {
  checkCopy,
  crossesDevices,
  type MemorySpan,
  noteCopy,
  orderCopy,
  queueCopy,
} from "./copy.ts";

/** One copy of a batch. */
export interface SpanCopy {
  /** What is written. */
  readonly destination: MemorySpan;
  /** What is read. */
  readonly source: MemorySpan;
}

/**
 * Queues copies and does not wait (cuMemcpyBatchAsync, CUDA 12.8). The result is that of queueing
 * them one after another; copies that depend on each other, or that cross devices, are.
 *
 * @throws RangeError when the sizes of a pair differ, or its ranges overlap; nothing is queued then.
 */
export function queueCopyBatch(copies: readonly SpanCopy[], stream: CudaStream): void {
  for (const copy of copies) checkCopy(copy.destination, copy.source, stream);
  const full = copies.filter(({ source }) => source.byteLength > 0);
  if (full.length === 0) return;
  if (!isOneCall(full, stream)) {
    for (const { destination, source } of full) queueCopy(destination, source, stream);
    return;
  }
  for (const copy of full) orderCopy(routeOf(copy, stream));
  const { context, handle } = stream;
  const attributes = CUmemcpyAttributes.encode({
    srcAccessOrder: CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
  });
  context.call(
    "cuMemcpyBatchAsync",
    BigUint64Array.from(full, ({ destination }) => destination.address),
    BigUint64Array.from(full, ({ source }) => source.address),
    BigUint64Array.from(full, ({ source }) => BigInt(source.byteLength)),
    BigInt(full.length),
    attributes,
    new BigUint64Array(1), // the one set of attributes counts from the first copy on
    1n,
    new BigUint64Array(1),
    handle,
  );
  for (const copy of full) noteCopy(routeOf(copy, stream), copy.source.byteLength);
}

function isOneCall(copies: readonly SpanCopy[], stream: CudaStream): boolean {
  return stream.context.driver.has("cuMemcpyBatchAsync") && areIndependent(copies) &&
    !copies.some((copy) => crossesDevices(routeOf(copy, stream)));
}

/** The driver runs a batch in any order, so no copy may write what another one reads or writes. */
function areIndependent(copies: readonly SpanCopy[]): boolean {
  const ranges = copies
    .flatMap(({ destination, source }) => [
      { ...rangeOf(destination), isWritten: true },
      { ...rangeOf(source), isWritten: false },
    ])
    .sort((a, b) => a.start < b.start ? -1 : 1);
  let endOfAll = 0n;
  let endOfWrites = 0n;
  for (const { start, end, isWritten } of ranges) {
    if (start < (isWritten ? endOfAll : endOfWrites)) return false;
    if (end > endOfAll) endOfAll = end;
    if (isWritten && end > endOfWrites) endOfWrites = end;
  }
  return true;
}

function rangeOf({ address, byteLength }: MemorySpan): { start: bigint; end: bigint } {
  return { start: address, end: address + BigInt(byteLength) };
}

function routeOf({ destination, source }: SpanCopy, stream: CudaStream) {
  return { destination: destination.allocation, source: source.allocation, stream };
}
