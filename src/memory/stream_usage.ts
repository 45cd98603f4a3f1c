// Which streams use a block of memory, so that a second stream waits for the first by itself.
// With one stream this costs a comparison; events are made only when two streams meet.

import type { CudaStream } from "../stream.ts";

/** How an operation uses memory. */
export type Access = "read" | "write";

/** From so many readers on, those that are gone for good are forgotten first. */
const MANY = 8;

/** The streams whose queued work may still use one block. */
export class StreamUsage {
  #writer: CudaStream | undefined;
  /** Streams that read since the last write; each of them came after that write. */
  #readers: CudaStream[] = [];

  /** Starts with the stream that the block was allocated on, which may write first. */
  constructor(first: CudaStream) {
    if (first.context.ordersStreams) this.#writer = first;
    else this.#readers.push(first);
  }

  /**
   * Notes that `stream` is about to use the block, and makes it wait for what others have queued:
   * a read for the last write, a write for all reads too. Where the program orders its streams
   * itself, all that used the block are remembered, so that its release still comes after them.
   */
  order(stream: CudaStream, access: Access): void {
    // The usual case: whoever waits for this stream later waits for all it has queued by then.
    if (this.#writer === stream && this.#readers.length === 0) return;
    if (!stream.context.ordersStreams) return this.#read(stream);
    const isAfterWrite = this.#writer === stream || this.#readers.includes(stream);
    if (this.#writer !== undefined && !isAfterWrite) this.follow(stream, this.#writer);
    if (access === "read") return this.#read(stream);
    for (const reader of this.#readers) this.follow(stream, reader);
    this.#writer = stream;
    this.#readers.length = 0;
  }

  /** Makes `stream` wait for all that the block's streams have queued, as its release must. */
  finishOn(stream: CudaStream): void {
    if (this.#writer !== undefined) this.follow(stream, this.#writer);
    for (const reader of this.#readers) this.follow(stream, reader);
  }

  /** The streams whose work a block's release must come after. */
  streams(): CudaStream[] {
    return this.#writer === undefined ? this.#readers : [this.#writer, ...this.#readers];
  }

  /** Makes one stream wait for what another has queued. */
  protected follow(stream: CudaStream, other: CudaStream): void {
    stream.follow(other);
  }

  #read(stream: CudaStream): void {
    if (this.#readers.includes(stream)) return;
    if (this.#readers.length >= MANY) {
      this.#readers = this.#readers.filter((reader) => !reader.isOver);
    }
    this.#readers.push(stream);
  }
}
