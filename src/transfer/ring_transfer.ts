// One transfer through the ring: which pieces are still to be handed out, and how it ended.

import type { CudaStream } from "../stream.ts";
import type { ByteCopy } from "./copy_many.ts";
import type { LaneTask } from "./lane_tasks.ts";

/** What one slot carries. */
export interface Piece {
  /** How many bytes of the program's it moves. */
  readonly byteLength: number;
  /** What a lane does between the host's side and the slot. */
  laneTask(slotAddress: bigint): LaneTask;
  /** The copies between the slot and the device; they depend on no other copy. */
  copies(slotAddress: bigint): readonly ByteCopy[];
  /** What is wrong when the lane failed; only files fail. */
  laneError(): Error;
}

/** What to move between a device and the host. */
export interface RingRequest {
  /** Which way. */
  readonly direction: "upload" | "download";
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** How many bytes all pieces have together. */
  readonly byteLength: number;
  /** Host memory that pieces know by its address only, so that it is not collected meanwhile. */
  readonly keeps?: unknown;
  /** Cuts what is to be moved into pieces for slots of `pieceBytes`. */
  cut(pieceBytes: number): Iterator<Piece>;
  /** Bytes of one piece, at most a slot; chosen by the size of the transfer when left out. */
  readonly pieceBytes?: number;
  /** Whether nothing has touched the host's memory yet, so that its pages are still to come. */
  readonly isFresh?: boolean;
  /** Called as pieces arrive. */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
  /** Ends the transfer early, once nothing is in flight any more. */
  readonly signal?: AbortSignal | undefined;
}

/** A running transfer. */
export class RingTransfer {
  readonly request: RingRequest;
  readonly #pieces: Iterator<Piece>;
  #handedOutBytes = 0;
  #doneBytes = 0;
  #inFlight = 0;
  /** Pieces handed out whose copies are not queued yet. */
  #unqueued = 0;
  #failure: { readonly error: unknown } | undefined;

  /** Starts with nothing handed out. */
  constructor(request: RingRequest, pieceBytes: number) {
    this.request = request;
    this.#pieces = request.cut(pieceBytes);
  }

  /** Takes the next piece; undefined when all are handed out, or the transfer failed. */
  next(): Piece | undefined {
    const { signal } = this.request;
    if (signal?.aborted) this.fail(signal.reason);
    if (!this.isWaiting) return undefined;
    const { value, done } = this.#pieces.next();
    if (done === true) return undefined;
    this.#handedOutBytes += value.byteLength;
    this.#inFlight++;
    this.#unqueued++;
    return value;
  }

  /** Notes that a piece's copies are in the stream, or will never be. */
  noteQueued(): void {
    this.#unqueued--;
  }

  /** Pieces that will still be queued, as far as they were handed out. */
  get unqueuedCount(): number {
    return this.#unqueued;
  }

  /** Notes that a piece is where it belongs. */
  finish(piece: Piece): void {
    this.#inFlight--;
    this.#doneBytes += piece.byteLength;
    if (this.#failure !== undefined) return;
    const { byteLength, onProgress, signal } = this.request;
    try {
      onProgress?.(this.#doneBytes, byteLength);
    } catch (error) {
      this.fail(error);
    }
    if (signal?.aborted && this.#doneBytes < byteLength) this.fail(signal.reason);
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

  /** Whether it has pieces left to hand out. */
  get isWaiting(): boolean {
    return this.#failure === undefined && this.#handedOutBytes < this.request.byteLength;
  }

  /** Whether nothing of it is in flight and nothing is left. */
  get isOver(): boolean {
    return this.#inFlight === 0 && !this.isWaiting;
  }

  /** Throws what it failed with, if it failed. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
