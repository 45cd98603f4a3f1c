// The streams that use a block of memory, so that a second stream waits for the first by itself.
// With one stream this costs a comparison; events are made only when two streams meet.

import type { AddressRange } from "../accounting/ledger.ts";
import type { PendingWork } from "../order/pending_work.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";

/** The two ways to use memory. */
export type Access = "read" | "write";

/** A part of a block, and what is done with it. */
export interface PartUse extends AddressRange {
  /** The use: a read or a write. */
  readonly access: Access;
}

/** A use by a call whose effect is still to come. */
interface PendingUse extends PartUse {
  /** The call; of postponed calls of one stream, the last. */
  readonly work: PendingWork;
  /** The stream in whose order it comes. */
  readonly stream: CudaStream;
}

/** From so many readers on, those that are gone for good are forgotten first. */
const MANY = 8;

/** The streams whose queued work may still use one block. */
export class StreamUsage {
  #writer: CudaStream | undefined;
  /** Streams that read since the last write; each of them came after that write. */
  #readers: CudaStream[] = [];
  /** Uses that are still to come; most blocks never have any. */
  #pending: PendingUse[] | undefined;

  /**
   * Starts with the stream that the block was allocated on, which may write first.
   *
   * @ignore
   */
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

  /** Returns whether a use by a stream comes after all others by itself, so that nothing is to be noted. */
  isInOrder(stream: CudaStream, access: Access): boolean {
    if (this.#pending !== undefined) return false;
    if (this.#readers.length === 0) return this.#writer === stream;
    return access === "read" && this.#readers.includes(stream);
  }

  /** Whether calls that use the block are still to come. */
  get hasPending(): boolean {
    return this.#pending !== undefined;
  }

  /**
   * Notes a use that is still to come. A stream makes its postponed calls one after another, so the
   * last of them stands for all.
   *
   * @ignore
   */
  addPending(work: PendingWork, stream: CudaStream, part: PartUse): void {
    const { address, byteLength, access } = part;
    const use = { work, stream, address, byteLength, access };
    const pending = this.#pending ??= [];
    const at = queueOf(stream).lastPostponed === work
      ? pending.findIndex((other) => other.stream === stream && other.work.isPostponed)
      : -1;
    const former = pending[at];
    if (former === undefined) pending.push(use);
    else pending[at] = { ...use, ...unionOf(former, use) };
  }

  /**
   * Forgets the uses of a call that is over.
   *
   * @ignore
   */
  endPending(work: PendingWork): void {
    if (this.#pending === undefined) return;
    const rest = this.#pending.filter((use) => use.work !== work);
    this.#pending = rest.length === 0 ? undefined : rest;
  }

  /**
   * The calls that a new use comes after: those that touch the same bytes, one of the two a write.
   * Where the program orders its streams itself, only those of the same stream.
   *
   * @ignore
   */
  pendingBefore(stream: CudaStream, { address, byteLength, access }: PartUse): PendingWork[] {
    const end = address + BigInt(byteLength);
    const earlier: PendingWork[] = [];
    for (const use of this.#pending ?? []) {
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
    queueOf(stream).follow(queueOf(other));
  }

  #read(stream: CudaStream): void {
    if (this.#readers.includes(stream)) return;
    if (this.#readers.length >= MANY) {
      this.#readers = this.#readers.filter((reader) => !queueOf(reader).isOver);
    }
    this.#readers.push(stream);
  }
}

/** The bytes from the first to the last of two parts, and the access that covers both. */
function unionOf(one: PartUse, other: PartUse): PartUse {
  const address = one.address < other.address ? one.address : other.address;
  const ends = [one, other].map((part) => part.address + BigInt(part.byteLength));
  const [first = 0n, second = 0n] = ends;
  const byteLength = Number((first > second ? first : second) - address);
  const access = one.access === "write" || other.access === "write" ? "write" : "read";
  return { address, byteLength, access };
}
