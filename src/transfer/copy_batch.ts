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
  for (const { destination, source } of copies) checkCopy(destination, source, stream);
  const full = copies.filter(({ source }) => source.byteLength > 0);
  const isTogether = areIndependent(full) &&
    !full.some((copy) => crossesDevices(routeOf(copy, stream)));
  if (isTogether) queueIndependentCopies(full, stream);
  else queueInOrder(full, stream);
}

/**
 * Queues copies that were checked, that move something within reach of the stream's device, and
 * none of which writes what another one reads or writes.
 */
export function queueIndependentCopies(copies: readonly SpanCopy[], stream: CudaStream): void {
  if (copies.length === 0) return;
  if (!stream.context.driver.has("cuMemcpyBatchAsync")) return queueInOrder(copies, stream);
  const destinations = new BigUint64Array(copies.length);
  const sources = new BigUint64Array(copies.length);
  const sizes = new BigUint64Array(copies.length);
  for (const [index, copy] of copies.entries()) {
    orderCopy(routeOf(copy, stream));
    destinations[index] = copy.destination.address;
    sources[index] = copy.source.address;
    sizes[index] = BigInt(copy.source.byteLength);
  }
  stream.context.call(
    "cuMemcpyBatchAsync",
    destinations,
    sources,
    sizes,
    BigInt(copies.length),
    CUmemcpyAttributes.encode({
      srcAccessOrder: CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
    }),
    new BigUint64Array(1), // the one set of attributes counts from the first copy on
    1n,
    new BigUint64Array(1),
    stream.handle,
  );
  for (const copy of copies) noteCopy(routeOf(copy, stream), copy.source.byteLength);
}

function queueInOrder(copies: readonly SpanCopy[], stream: CudaStream): void {
  for (const { destination, source } of copies) queueCopy(destination, source, stream);
}

/** The driver runs a batch in any order, so no copy may write what another one reads or writes. */
function areIndependent(copies: readonly SpanCopy[]): boolean {
  const written = hullInOrder(copies.map(({ destination }) => destination));
  const read = hullInOrder(copies.map(({ source }) => source));
  if (written !== undefined && read !== undefined) {
    if (written.end <= read.start || read.end <= written.start) return true;
  }
  return noneOverlaps(copies);
}

/** From where to where ranges reach that follow each other; undefined when they do not. */
function hullInOrder(spans: readonly MemorySpan[]): AddressRange | undefined {
  let end = 0n;
  for (const { address, byteLength } of spans) {
    if (address < end) return undefined;
    end = address + BigInt(byteLength);
  }
  return { start: spans[0]?.address ?? 0n, end };
}

function noneOverlaps(copies: readonly SpanCopy[]): boolean {
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

interface AddressRange {
  readonly start: bigint;
  readonly end: bigint;
}

function rangeOf({ address, byteLength }: MemorySpan): AddressRange {
  return { start: address, end: address + BigInt(byteLength) };
}

function routeOf({ destination, source }: SpanCopy, stream: CudaStream) {
  return { destination: destination.allocation, source: source.allocation, stream };
}
