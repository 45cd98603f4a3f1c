// Copies and fills that the GPU does by itself: queued on a stream, nothing waits.

import type { Allocation } from "../memory/allocation.ts";
import type { CudaStream } from "../stream.ts";

/** A range of memory that the GPU can reach. */
export interface MemorySpan {
  /** The block it lies in. */
  readonly allocation: Allocation;
  /** Address of its first byte. */
  readonly address: bigint;
  /** Its size in bytes. */
  readonly byteLength: number;
}

/**
 * Queues a copy and does not wait (cuMemcpyAsync). Both blocks stay until it is done, also when
 * they are disposed meanwhile.
 *
 * @throws RangeError when the sizes differ.
 */
export function queueCopy(destination: MemorySpan, source: MemorySpan, stream: CudaStream): void {
  const { byteLength } = source;
  if (destination.byteLength !== byteLength) {
    const problem = destination.byteLength < byteLength ? "too small" : "too large";
    throw new RangeError(
      `Cannot copy ${byteLength} bytes into ${destination.byteLength}: destination is ${problem}`,
    );
  }
  checkStream(destination, stream);
  if (byteLength === 0) return;
  source.allocation.order(stream, "read");
  destination.allocation.order(stream, "write");
  const { context } = stream;
  context.copiedBytes += byteLength;
  context.driver.call(
    "cuMemcpyAsync",
    destination.address,
    source.address,
    BigInt(byteLength),
    stream.handle,
  );
}

/**
 * Queues a fill with one element's bytes and does not wait (cuMemsetD8Async and its wider relatives).
 * Elements of 8 bytes are written in two passes of every other 32-bit word when their halves differ.
 */
export function queueFill(
  span: MemorySpan,
  element: Uint8Array<ArrayBuffer>,
  stream: CudaStream,
): void {
  checkStream(span, stream);
  if (span.byteLength === 0) return;
  span.allocation.order(stream, "write");
  const { context, handle } = stream;
  const { address } = span;
  const count = BigInt(span.byteLength / element.byteLength);
  const bits = new DataView(element.buffer);
  switch (element.byteLength) {
    case 1:
      return context.driver.call("cuMemsetD8Async", address, bits.getUint8(0), count, handle);
    case 2:
      return context.driver.call(
        "cuMemsetD16Async",
        address,
        bits.getUint16(0, true),
        count,
        handle,
      );
    case 4:
      return context.driver.call(
        "cuMemsetD32Async",
        address,
        bits.getUint32(0, true),
        count,
        handle,
      );
  }
  const low = bits.getUint32(0, true);
  const high = bits.getUint32(4, true);
  if (low === high) {
    return context.driver.call("cuMemsetD32Async", address, low, 2n * count, handle);
  }
  context.driver.call("cuMemsetD2D32Async", address, 8n, low, 1n, count, handle);
  context.driver.call("cuMemsetD2D32Async", address + 4n, 8n, high, 1n, count, handle);
}

function checkStream(span: MemorySpan, stream: CudaStream): void {
  const { context } = span.allocation;
  if (context === stream.context) return;
  throw new TypeError(
    `Cannot use memory of device ${context.ordinal} on ${stream} of device ` +
      `${stream.context.ordinal}: use a stream of the same device`,
  );
}
