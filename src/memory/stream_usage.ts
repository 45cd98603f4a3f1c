// Which streams use a block of memory, so that a second stream waits for the first by itself.
// With one stream this costs a comparison; events are made only when two streams meet.

import type { PendingWork } from "../pending_work.ts";
import type { CudaStream } from "../stream.ts";

/** How an operation uses memory. */
export type Access = "read" | "write";

/** A use of a part of a block by a call whose effect is still to come. */
export interface PendingUse {
  /** The call. */
  readonly work: PendingWork;
  /** The stream in whose order it comes. */
  readonly stream: CudaStream;
  /** Where the part starts. */
  readonly address: bigint;
  /** Its size in bytes. */
  readonly byteLength: number;
  /** What the call does with it. */
  readonly access: Access;
}

/** From so many readers on, those that are gone for good are forgotten first. */
const MANY = 8;

/** The streams whose queued work may still use one block. */
export class StreamUsage {
  #writer: CudaStream | undefined;
  /** Streams that read since the last write; each of them came after that write. */
  #readers: CudaStream[] = [];
  /** Uses that are still to come; most blocks never have any. */
  #pending: Set<PendingUse> | undefined;

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

  /** Whether calls that use the block are still to come. */
  get hasPending(): boolean {
    return this.#pending !== undefined;
  }

  /**
   * Notes a use that is still to come, until its call is over.
   *
   * @internal
   */
  addPending(use: PendingUse): void {
    const pending = this.#pending ??= new Set();
    pending.add(use);
    use.work.whenOver(() => {
      pending.delete(use);
      if (pending.size === 0 && this.#pending === pending) this.#pending = undefined;
    });
  }

  /**
   * The calls that a new use comes after: those that touch the same bytes, one of the two a write.
   * Where the program orders its streams itself, only those of the same stream.
   *
   * @internal
   */
  pendingBefore({ stream, address, byteLength, access }: Omit<PendingUse, "work">): PendingWork[] {
    if (this.#pending === undefined) return [];
    const end = address + BigInt(byteLength);
    const earlier: PendingWork[] = [];
    for (const use of this.#pending) {
      if (access === "read" && use.access === "read") continue;
      if (use.address >= end || use.address + BigInt(use.byteLength) <= address) continue;
      if (use.stream !== stream && !stream.context.ordersStreams) continue;
      earlier.push(use.work);
    }
    return earlier;
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
