// One transfer through the ring: which pieces are still to be handed out, and how it ended.

import { nameOf } from "../accounting/ledger.ts";
import { queueCopies } from "../copies/copy_many.ts";
import type { TransferStream } from "../copies/transfer_streams.ts";
import { askForHugePages, isUntouched } from "../lanes/fresh_pages.ts";
import type { MemoryKeeper } from "../lanes/memory_keeper.ts";
import { ownerOf } from "../memory/host_bytes.ts";
import { type HostBytes, MOVED_AWAY } from "../memory/host_memory.ts";
import type { Fence } from "../order/fence.ts";
import { cutSections, type Direction, type Piece, type Section } from "./pieces.ts";
import type { Slot } from "./pinned_ring.ts";
import { type EngineLimits, pieceBytesFor } from "./ways.ts";

/** A request to move bytes between a device and the host. */
export interface RingRequest {
  /** Direction of the transfer. */
  readonly direction: Direction;
  /** The bytes to move, on both sides. */
  readonly sections: readonly Section[];
  /** Copies may also move the padding between neighbours on the device, which holds no other data. */
  readonly takesPadding?: boolean | undefined;
  /**
   * Threads may be lent for it: such a thread may begin after a later call has changed the bytes, so
   * it is never to write what the program can reach.
   */
  readonly canLend: boolean;
}

/** Returns the number of bytes of sections. */
export function bytesOfSections(sections: readonly Pick<Section, "span">[]): number {
  return sections.reduce((sum, { span }) => sum + span.byteLength, 0);
}

/** A slot on its way, with the piece it carries. */
export interface LoadedSlot {
  /** The slot. */
  readonly slot: Slot;
  /** The transfer it works for. */
  readonly transfer: RingTransfer;
  /** The part of the transfer that it carries. */
  readonly piece: Piece;
}

/** A transfer through the ring, from its first piece to its last. */
export class RingTransfer {
  readonly direction: Direction;
  /** See {@link RingRequest.canLend}. */
  readonly canLend: boolean;
  /** The GPU's work that comes before it. */
  readonly entry: Fence | undefined;
  /** The program's arrays, which pieces know by their addresses only. */
  readonly arrays: readonly HostBytes[];
  /** Slots whose copies are next. */
  readonly loaded: LoadedSlot[] = [];
  /** Slots with copies in its stream, oldest first, by call; the fence of each call's last one stands behind. */
  readonly copying: LoadedSlot[][] = [];
  /** On which its copies are queued, once it has its turn. */
  stream: TransferStream | undefined;
  /** Keeps its arrays while lanes use them and the program runs. */
  keeper: MemoryKeeper | undefined;
  readonly #pieces: Iterator<Piece>;
  readonly #byteLength: number;
  readonly #arrayBytes: number;
  #handedOutBytes = 0;
  /** Bytes that are where they belong. */
  doneBytes = 0;
  #inFlight = 0;
  /** The program may have transferred arrays away since they were checked. */
  #hasProgramRun = true;
  #failure: { readonly error: unknown } | undefined;

  /** Starts with nothing handed out, for a ring. */
  constructor(
    { direction, sections, canLend, takesPadding }: RingRequest,
    { slotBytes, entry }: Pick<EngineLimits, "slotBytes"> & { readonly entry?: Fence | undefined },
  ) {
    this.direction = direction;
    this.canLend = canLend;
    this.entry = entry;
    this.arrays = sections.flatMap(({ host }) => "bytes" in host ? [host.bytes] : []);
    const [array] = this.arrays;
    const isFresh = direction === "download" && this.arrays.length === 1 &&
      array !== undefined && isUntouched(array);
    if (isFresh && array !== undefined) askForHugePages(array);
    this.#byteLength = bytesOfSections(sections);
    this.#arrayBytes = bytesIn(this.arrays);
    const pieceBytes = pieceBytesFor(this.#byteLength, slotBytes);
    const options = { direction, isFresh, takesPadding, pieceBytes };
    this.#pieces = cutSections(sections, options);
  }

  /** Takes the next piece; undefined when all are handed out, or the transfer failed. */
  next(): Piece | undefined {
    try {
      if (!this.hasArrays) throw movedAway(this.arrays);
      const piece: Piece | undefined = this.#pieces.next().value;
      if (piece === undefined) return undefined;
      this.#handedOutBytes += piece.byteLength;
      this.#inFlight++;
      return piece;
    } catch (error) {
      this.fail(error); // ends this transfer, whichever one has advanced the engine
      return undefined;
    }
  }

  /** Queues the copies of some loaded slots in one call. */
  copy(mostCount: number): void {
    const stream = this.stream as TransferStream;
    const slots = this.loaded.splice(0, mostCount);
    this.copying.push(slots);
    queueCopies(slots.flatMap(({ slot, piece }) => piece.copies(slot.address)), stream);
    slots.at(-1)?.slot.fence.set(stream.handle);
  }

  /** Notes that the program may run now. */
  noteProgram(): void {
    this.#hasProgramRun = true;
  }

  /** Notes that a piece is where it belongs. */
  finish(piece: Piece): void {
    this.#inFlight--;
    this.doneBytes += piece.byteLength;
  }

  /** Notes that a piece will not arrive. */
  drop(error: unknown): void {
    this.#inFlight--;
    this.fail(error);
  }

  /** Ends the transfer with its first error; pieces in flight still come to rest. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /** The program could move its arrays away while lanes use them. */
  get isUnkept(): boolean {
    return this.arrays.length > 0 && this.keeper === undefined;
  }

  /** Tells whether it has pieces left to hand out. */
  get isWaiting(): boolean {
    return this.#failure === undefined && this.#handedOutBytes < this.#byteLength;
  }

  /** Tells whether nothing of it is in flight and nothing is left. */
  get isOver(): boolean {
    return this.#inFlight === 0 && !this.isWaiting;
  }

  /** Throws the error that it failed with, if it failed. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#hasProgramRun = true;
    if (!this.hasArrays) throw movedAway(this.arrays);
  }

  /** Tells whether the program still has the arrays; it looks again after the program has run. */
  get hasArrays(): boolean {
    if (!this.#hasProgramRun) return true;
    this.#hasProgramRun = bytesIn(this.arrays) !== this.#arrayBytes;
    return !this.#hasProgramRun;
  }
}

/** The error of a transfer one of whose arrays lost its memory before it was over. */
export function movedAway(arrays: readonly HostBytes[]): TypeError {
  const disposed = arrays.map(ownerOf).find((owner) => owner?.released === true);
  const what = disposed === undefined
    ? MOVED_AWAY
    : `shows ${nameOf(disposed)}, which was disposed`;
  return new TypeError(
    `Cannot finish the transfer: its array ${what} before the transfer was over; await it first`,
  );
}

/** Returns a check that an array still has the memory that it has now. */
export function presenceOf(memory: HostBytes): () => void {
  const { byteLength } = memory;
  return () => {
    if (memory.byteLength !== byteLength) throw movedAway([memory]);
  };
}

function bytesIn(arrays: readonly HostBytes[]): number {
  return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
