// One transfer through the ring: which pieces are still to be handed out, and how it ended.

import { nameOf } from "../accounting/ledger.ts";
import type { CopyStream } from "../copies/copy_many.ts";
import { ownerOf } from "../memory/host_bytes.ts";
import { type HostBytes, MOVED_AWAY } from "../memory/host_memory.ts";
import type { Cut, Direction, Piece } from "./pieces.ts";

/** A request to move bytes between a device and the host. */
export interface RingRequest {
  /** Direction of the transfer. */
  readonly direction: Direction;
  /** Number of bytes of all pieces. */
  readonly byteLength: number;
  /** The program's arrays, which pieces know by their addresses only. */
  readonly arrays?: readonly HostBytes[];
  /** Makes the stream of the copies wait for what comes before the transfer. */
  readonly follow?: ((stream: CopyStream) => void) | undefined;
  /** Cuts the bytes to move into pieces. */
  readonly cut: Cut;
  /** Bytes of one piece, at most a slot; chosen by the size of the transfer when left out. */
  readonly pieceBytes?: number;
  /** Whether the host's memory is fresh: nothing has touched it yet, so its pages are not there. */
  readonly isFresh?: boolean;
  /**
   * Whether threads may be lent for it: such a thread may begin after a later call has changed the bytes, so
   * it is never to write what the program can reach.
   */
  readonly canLend: boolean;
  /** Keeps the file open for a thread that is at it after the end; the result lets it go. */
  keepOpen?(): () => void;
}

/** A transfer through the ring, from its first piece to its last. */
export class RingTransfer {
  readonly request: RingRequest;
  /** On which its copies are queued, once it has its turn. */
  stream: CopyStream | undefined;
  readonly #pieces: Iterator<Piece>;
  readonly #arrayBytes: number;
  #handedOutBytes = 0;
  #doneBytes = 0;
  #inFlight = 0;
  /** Pieces handed out whose copies are not queued yet. */
  #unqueued = 0;
  /** Whether the program may have transferred arrays away since they were checked. */
  #hasProgramRun = true;
  #failure: { readonly error: unknown } | undefined;

  /** Starts with nothing handed out. */
  constructor(request: RingRequest, pieceBytes: number) {
    this.request = request;
    this.#pieces = request.cut(pieceBytes);
    this.#arrayBytes = bytesIn(request.arrays);
  }

  /** Takes the next piece; undefined when all are handed out, or the transfer failed. */
  next(): Piece | undefined {
    if (!this.isWaiting) return undefined;
    if (!this.hasArrays) this.fail(movedAway(this.request.arrays));
    if (!this.isWaiting) return undefined;
    const piece = this.#cutNext();
    if (piece === undefined) return undefined;
    this.#handedOutBytes += piece.byteLength;
    this.#inFlight++;
    this.#unqueued++;
    return piece;
  }

  /** Makes the next piece; a failure ends this transfer, whichever one has advanced the engine. */
  #cutNext(): Piece | undefined {
    try {
      return this.#pieces.next().value;
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  /** Notes that the program may run now. */
  noteProgram(): void {
    this.#hasProgramRun = true;
  }

  /** Notes that a piece's copies are in the stream, or will never be. */
  noteQueued(): void {
    this.#unqueued--;
  }

  /** Number of pieces that were handed out and whose copies are not queued yet. */
  get unqueuedCount(): number {
    return this.#unqueued;
  }

  /** Notes that a piece is where it belongs. */
  finish(piece: Piece): void {
    this.#inFlight--;
    this.#doneBytes += piece.byteLength;
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

  /** Bytes that are where they belong. */
  get doneBytes(): number {
    return this.#doneBytes;
  }

  /** Whether it has pieces left to hand out. */
  get isWaiting(): boolean {
    return this.#failure === undefined && this.#handedOutBytes < this.request.byteLength;
  }

  /** Whether nothing of it is in flight and nothing is left. */
  get isOver(): boolean {
    return this.#inFlight === 0 && !this.isWaiting;
  }

  /** Throws the error that it failed with, if it failed. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#hasProgramRun = true;
    if (!this.hasArrays) throw movedAway(this.request.arrays);
  }

  /** Whether the program still has the arrays; it is asked again after the program has run. */
  get hasArrays(): boolean {
    if (!this.#hasProgramRun) return true;
    this.#hasProgramRun = bytesIn(this.request.arrays) !== this.#arrayBytes;
    return !this.#hasProgramRun;
  }
}

/** The error of a transfer one of whose arrays lost its memory before it was over. */
export function movedAway(arrays: readonly HostBytes[] = []): TypeError {
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

function bytesIn(arrays: readonly HostBytes[] = []): number {
  let byteLength = 0;
  for (const array of arrays) byteLength += array.byteLength;
  return byteLength;
}
