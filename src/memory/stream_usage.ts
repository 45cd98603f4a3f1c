// The streams that use a block of memory, so that a second stream automatically waits for the
// first. With one stream this costs a comparison; events are created only when two streams use the
// block.

import type { AddressRange } from "../accounting/ledger.ts";
import type { PendingWork } from "../order/pending_work.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import type { CallFailure } from "../order/stream_queue.ts";

/** The two ways to use memory. */
export type Access = "read" | "write";

/** A part of a block, and what is done with it. */
export interface PartUse extends AddressRange {
  readonly access: Access;
}

/** Looks at uses of memory before they are queued, where not every use is as good as the next. */
export interface UseGate {
  /** Returns whether a use need not be looked at. */
  isOpen(access: Access): boolean;
  /** Does what must come before a use that is queued next, or throws. */
  pass(stream: CudaStream, access: Access): void;
  /** Notes that an address leaves the kit, by which the memory can be used unseen; or throws. */
  handOut(): void;
  /** Notes that the block was given back; what was called before may still use it until `end()`. */
  leave?(byteLength: number): void;
  end?(): void;
  /** Words for cards and tables where the memory is not on the device: `"asleep, 4 GiB in host memory"`. */
  readonly words?: string | undefined;
}

interface PendingUse extends PartUse {
  /** The address behind its last byte. */
  readonly end: bigint;
  /** The call comes after all calls that were noted before it. */
  readonly isAfterAll: boolean;
  /** The call; the last one, for postponed calls of one stream. */
  readonly work: PendingWork;
  readonly stream: CudaStream;
}

/** From this many readers on, readers that are gone are removed first. */
const MANY = 8;

/** The streams whose queued work may still use one block. */
export class StreamUsage {
  #writer: CudaStream | undefined;
  /** Streams that have read since the last write; each is ordered after that write. */
  #readers: CudaStream[] = [];
  /** Uses by pending calls; most blocks never have any. */
  #pending: PendingUse[] | undefined;
  /** The failure of a postponed call that was to write the block. */
  #failure: CallFailure | undefined;
  /** @ignore Looks at uses of the block; most blocks have none. */
  gate: UseGate | undefined;

  /**
   * @ignore Starts with the stream that the block was allocated on, which may write first; undefined for
   * memory that is there for all streams and the host at once.
   */
  constructor(first?: CudaStream) {
    if (first === undefined) return;
    if (first.context.ordersStreams) this.#writer = first;
    else this.#readers.push(first);
  }

  /** @ignore Begins anew on a stream that comes after all uses so far. */
  restart(stream: CudaStream): void {
    this.#writer = stream.context.ordersStreams ? stream : undefined;
    this.#readers = this.#writer === undefined ? [stream] : [];
  }

  /**
   * Notes that `stream` is about to use the block, and makes it wait for the work of other streams:
   * a read for the last write, a write for all reads too. Where the program orders its streams
   * itself, all streams that used the block are remembered, so that its release still comes after
   * them. A failure that the program was not told of passes from what was to be written to the stream.
   */
  order(stream: CudaStream, access: Access): void {
    if (this.gate?.isOpen(access) === false) this.gate.pass(stream, access);
    if (this.#failure !== undefined) queueOf(stream).inherit(this.untoldFailure());
    // The usual case: a stream that waits for this one later waits for all that it has queued by
    // then.
    if (this.#writer === stream && this.#readers.length === 0) return;
    if (!stream.context.ordersStreams) return this.#read(stream);
    const isAfterWrite = this.#writer === stream || this.#readers.includes(stream);
    if (this.#writer !== undefined && !isAfterWrite) {
      this.follow(stream, this.#writer);
      queueOf(stream).inherit(queueOf(this.#writer).failure);
    }
    if (access === "read") return this.#read(stream);
    for (const reader of this.#readers) this.follow(stream, reader);
    this.#writer = stream;
    this.#readers.length = 0;
  }

  /** Returns whether a use by a stream already comes after all others, so that nothing need be noted. */
  isInOrder(stream: CudaStream, access: Access): boolean {
    if (this.#pending !== undefined || this.#failure !== undefined) return false;
    if (this.gate?.isOpen(access) === false) return false;
    if (this.#readers.length === 0) return this.#writer === stream;
    return access === "read" && this.#readers.includes(stream);
  }

  get hasPending(): boolean {
    return this.#pending !== undefined;
  }

  /**
   * @ignore Notes a use by a pending call. A stream makes its postponed calls one after another, so
   * the last one stands for all.
   */
  addPending(
    work: PendingWork,
    stream: CudaStream,
    { address, byteLength, access, isAfterAll = false }: PartUse & {
      readonly isAfterAll?: boolean;
    },
  ): void {
    const end = address + BigInt(byteLength);
    const use = { work, stream, address, byteLength, end, access, isAfterAll };
    const pending = this.#pending ??= [];
    const at = queueOf(stream).lastPostponed === work
      ? pending.findIndex((other) => other.stream === stream && other.work.isPostponed)
      : -1;
    const [former] = at === -1 ? [] : pending.splice(at, 1);
    pending.push(former === undefined ? use : { ...use, ...unionOf(former, use) });
  }

  /** @ignore Forgets the uses of a call that is over; they were noted one after the other. */
  endPending(work: PendingWork): void {
    const pending = this.#pending ?? [];
    const first = pending.findIndex((use) => use.work === work);
    if (first === -1) return;
    let end = first;
    while (pending[end]?.work === work) end++;
    pending.splice(first, end - first);
    if (pending.length === 0) this.#pending = undefined;
  }

  /** @ignore Notes that a postponed call has failed that was to use the block. */
  noteFailure(failure: CallFailure, access: Access): void {
    if (access === "write") this.#failure = failure;
  }

  /** @ignore Returns the failure that was noted, and forgets it once the program was told. */
  untoldFailure(): CallFailure | undefined {
    if (this.#failure?.isTold === true) this.#failure = undefined;
    return this.#failure;
  }

  /**
   * @ignore Returns the calls that a new use must come after: those that touch the same bytes, if
   * either of the two writes. Where the program orders its streams itself, only calls on the same
   * stream count. The last write of all these bytes comes after those before it, unless the program
   * orders its stream and not this one.
   */
  pendingBefore(stream: CudaStream, { address, byteLength, access }: PartUse): PendingWork[] {
    const end = address + BigInt(byteLength);
    const earlier: PendingWork[] = [];
    const pending = this.#pending ?? [];
    for (let at = pending.length - 1; at >= 0; at--) {
      const use = pending[at];
      if (use === undefined || (access === "read" && use.access === "read")) continue;
      if (use.address >= end || use.end <= address) continue;
      if (use.stream !== stream && !stream.context.ordersStreams) continue;
      earlier.push(use.work);
      const isAll = use.access === "write" && use.address <= address && use.end >= end;
      const isOrdered = use.stream === stream || use.stream.context.ordersStreams;
      if (isAll && isOrdered && use.isAfterAll) break;
    }
    return earlier;
  }

  /** Makes `stream` wait for all work of the block's streams, as its release must. */
  finishOn(stream: CudaStream): void {
    const writer = this.#writer;
    if (writer !== undefined && writer !== stream) this.follow(stream, writer);
    for (const reader of this.#readers) this.follow(stream, reader);
  }

  /** Blocks until the GPU has done what an access by the host comes after. */
  waitSync(access: Access): void {
    if (this.#writer !== undefined) queueOf(this.#writer).finishSync();
    const isAfterReads = access === "write" ||
      this.#readers.some(({ context }) => !context.ordersStreams);
    if (isAfterReads) { for (const reader of this.#readers) queueOf(reader).finishSync(); }
  }

  /** Tells whether the GPU has done all that the block's streams were given. */
  get isPassed(): boolean {
    return this.streams().every((stream) => queueOf(stream).isPassed);
  }

  /** Returns the streams whose work the block's release must come after. */
  streams(): CudaStream[] {
    return this.#writer === undefined ? this.#readers : [this.#writer, ...this.#readers];
  }

  /** Makes one stream wait for the work queued on another. */
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

/** Returns the range that covers two parts, with the access that covers both. */
function unionOf(
  one: PendingUse,
  other: PendingUse,
): Pick<PendingUse, "address" | "end" | "byteLength" | "access"> {
  const address = one.address < other.address ? one.address : other.address;
  const end = one.end > other.end ? one.end : other.end;
  const access = one.access === "write" || other.access === "write" ? "write" : "read";
  return { address, end, byteLength: Number(end - address), access };
}
