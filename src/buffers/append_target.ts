// The end of a growable buffer, as the target of a stream of any length.

import { elementBytes } from "../dtype.ts";
import type { CudaStream } from "../order/stream.ts";
import type { StreamTarget } from "../transfer/staged_writer.ts";
import type { GrowableBuffer } from "./growable_buffer.ts";

/**
 * Returns a target that appends a stream's bytes to `buffer`. When the stream fails, the buffer has
 * its former elements.
 */
export function appendTo(buffer: GrowableBuffer, stream: CudaStream): StreamTarget {
  const { length: formerLength, byteLength: formerBytes } = buffer;
  const bytesEach = elementBytes(buffer.dtype);
  return {
    stream,
    expectedBytes: undefined,
    spanFor(endBytes) {
      const length = formerLength + Math.ceil(endBytes / bytesEach);
      if (length > buffer.length) buffer.resize(length);
      const { allocation, address, byteLength } = buffer.span;
      const start = address + BigInt(formerBytes);
      return { allocation, address: start, byteLength: byteLength - formerBytes };
    },
    finish(doneBytes) {
      if (doneBytes % bytesEach === 0) return;
      throw new RangeError(
        `Cannot write a stream of ${doneBytes} bytes to ${buffer}: they do not divide into ` +
          `elements of ${bytesEach} bytes`,
      );
    },
    abandon() {
      if (!buffer.disposed) buffer.resize(formerLength);
    },
    toString: () => `${buffer}`,
  };
}
