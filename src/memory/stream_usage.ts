// Which streams use a block of memory, so that a second stream waits for the first by itself.
// With one stream this costs a comparison; events are made only when two streams meet.

import type { CudaStream } from "../stream.ts";

/** How an operation uses memory. */
export type Access = "read" | "write";

/** The streams whose queued work may still use one block. */
export class StreamUsage {
  #writer: CudaStream | undefined;
  /** Streams that read since the last write. */
  #readers: CudaStream[] = [];

  /**
   * Notes that `stream` is about to use the block, and makes it wait for what others have queued:
   * a read for the last write, a write for all reads too.
   */
  order(stream: CudaStream, access: Access): void {
    if (this.#writer !== undefined && this.#writer !== stream) this.#wait(stream, this.#writer);
    if (access === "read") {
      if (!this.#readers.includes(stream)) this.#readers.push(stream);
      return;
    }
    for (const reader of this.#readers) if (reader !== stream) this.#wait(stream, reader);
    this.#writer = stream;
    this.#readers.length = 0;
  }

  /** The streams whose work a block's release must come after. */
  streams(): CudaStream[] {
    return this.#writer === undefined ? this.#readers : [this.#writer, ...this.#readers];
  }

  #wait(stream: CudaStream, other: CudaStream): void {
    if (stream.context.ordersStreams) stream.wait(other);
  }
}
