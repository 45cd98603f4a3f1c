// Several copies in one driver call when the driver has it, and in one call each otherwise. Takes
// addresses only: the caller has checked and ordered everything.

import { CUmemcpySrcAccessOrder } from "../../ffi/constants.ts";
import { CUmemcpyAttributes } from "../../ffi/structs.ts";
import type { StreamQueue } from "../order/stream_queue.ts";
import type { TransferStream } from "./transfer_streams.ts";

const IN_STREAM_ORDER = CUmemcpyAttributes.encode({
  srcAccessOrder: CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
});

/** The index of the first copy that the one set of attributes applies to. */
const FROM_THE_FIRST = new BigUint64Array(1);

/** Receives the index of the failed copy; unused, as the status's message says enough. */
const FAILED_COPY = new BigUint64Array(1);

/** Bytes that follow each other, from one address to another. */
export interface ByteCopy {
  readonly destination: bigint;
  readonly source: bigint;
  /** Number of bytes, at least 1. */
  readonly byteLength: number;
}

/** A queue of the driver: a program's stream whose turn it is, or a stream of the kit's own. */
export type CopyStream = StreamQueue | TransferStream;

/**
 * The most copies in one call: with many more to the device, each copy costs the host twice as
 * much.
 */
const MAX_TOGETHER = 64;

/**
 * Queues copies within reach of the stream's device, none of which writes what another one reads or
 * writes (cuMemcpyBatchAsync, CUDA 12.8; else cuMemcpyAsync). In one call there are no gaps between
 * them, which would cost a copy of 2 MiB a tenth of its speed.
 */
export function queueCopies(copies: readonly ByteCopy[], stream: CopyStream): void {
  if (copies.length === 1 || !stream.context.driver.has("cuMemcpyBatchAsync")) {
    for (const copy of copies) queueOne(copy, stream);
    return;
  }
  for (let start = 0; start < copies.length; start += MAX_TOGETHER) {
    queueTogether(copies.slice(start, start + MAX_TOGETHER), stream);
  }
}

function queueOne({ destination, source, byteLength }: ByteCopy, stream: CopyStream): void {
  const { context, handle } = stream;
  const size = BigInt(byteLength);
  const status = context.driver.api.cuMemcpyAsync(destination, source, size, handle);
  context.settle(status, "cuMemcpyAsync", destination, source, size, handle);
}

function queueTogether(copies: readonly ByteCopy[], stream: CopyStream): void {
  const destinations = new BigUint64Array(copies.length);
  const sources = new BigUint64Array(copies.length);
  const sizes = new BigUint64Array(copies.length);
  copies.forEach(({ destination, source, byteLength }, index) => {
    destinations[index] = destination;
    sources[index] = source;
    sizes[index] = BigInt(byteLength);
  });
  stream.context.call(
    "cuMemcpyBatchAsync",
    destinations,
    sources,
    sizes,
    BigInt(copies.length),
    IN_STREAM_ORDER,
    FROM_THE_FIRST,
    1n,
    FAILED_COPY,
    stream.handle,
  );
}
