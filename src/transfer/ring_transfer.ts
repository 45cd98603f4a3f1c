// One transfer through the ring: which bytes are still to be handed out, and how it ended.

import type { CudaStream } from "../stream.ts";
import type { LaneTask } from "./copy_lanes.ts";

/** What is on the host's side of a transfer: memory at an address, or an open file. */
export type HostSide =
  | { readonly address: bigint }
  | { readonly fileDescriptor: number; readonly fileOffset: number };

/** What to move between a device and the host. */
export interface RingRequest {
  /** Which way. */
  readonly direction: "upload" | "download";
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** Address on the device. */
  readonly deviceAddress: bigint;
  /** The host's side; memory must stay referenced until the transfer is over. */
  readonly host: HostSide;
  /** How many bytes. */
  readonly byteLength: number;
  /** Bytes of one piece, at most a slot; chosen by the size of the transfer when left out. */
  readonly pieceBytes?: number;
  /** Whether nothing has touched the host's memory yet, so that its pages are still to come. */
  readonly isFresh?: boolean;
  /** Called as pieces arrive. */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
  /** Ends the transfer early, once nothing is in flight any more. */
  readonly signal?: AbortSignal | undefined;
}

/** A part of a transfer that fits a slot. */
export interface Piece {
  /** Where it starts, in bytes from the start of the transfer. */
  readonly offset: number;
  /** How many bytes. */
  readonly byteLength: number;
}

/** A running transfer. */
export class RingTransfer {
  readonly request: RingRequest;
  readonly #pieceBytes: number;
  #handedOutBytes = 0;
  #doneBytes = 0;
  #inFlight = 0;
  /** Pieces handed out whose copies are not queued yet. */
  #unqueued = 0;
  #failure: { readonly error: unknown } | undefined;

  /** Starts with nothing handed out. */
  constructor(request: RingRequest, pieceBytes: number) {
    this.request = request;
    this.#pieceBytes = pieceBytes;
  }

  /** Takes the next piece; undefined when all are handed out, or the transfer failed. */
  next(): Piece | undefined {
    const { byteLength, signal } = this.request;
    if (signal?.aborted) this.fail(signal.reason);
    if (this.#failure !== undefined || this.#handedOutBytes === byteLength) return undefined;
    const offset = this.#handedOutBytes;
    const largest = offset === 0 ? this.#firstPieceBytes() : this.#pieceBytes;
    const piece = { offset, byteLength: Math.min(largest, byteLength - offset) };
    this.#handedOutBytes += piece.byteLength;
    this.#inFlight++;
    this.#unqueued++;
    return piece;
  }

  /** Fresh memory is cut where its pages begin, so that no two lanes clear the same huge page. */
  #firstPieceBytes(): number {
    const { host, isFresh } = this.request;
    if (isFresh !== true || !("address" in host)) return this.#pieceBytes;
    return this.#pieceBytes - Number(host.address % BigInt(this.#pieceBytes));
  }

  /** Notes that a piece's copy is in the stream, or will never be. */
  noteQueued(): void {
    this.#unqueued--;
  }

  /** Whether no more copies will come. */
  get allQueued(): boolean {
    return this.#unqueued === 0 && !this.isWaiting;
  }

  /** Notes that a piece is where it belongs. */
  finish(piece: Piece): void {
    this.#inFlight--;
    this.#doneBytes += piece.byteLength;
    if (this.#failure !== undefined) return;
    try {
      this.request.onProgress?.(this.#doneBytes, this.request.byteLength);
    } catch (error) {
      this.fail(error);
    }
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

  /** What a lane that failed was doing; only files fail. */
  hostError({ offset, byteLength }: Piece): Error {
    const { host, direction } = this.request;
    const at = "fileOffset" in host ? host.fileOffset + offset : offset;
    const verb = direction === "upload" ? "read" : "write";
    return new Error(
      `Cannot ${verb} ${byteLength} bytes at ${at} of the file: it ended early, changed meanwhile, ` +
        `or the disk failed`,
    );
  }

  /** The lane's task that moves a piece between the host's side and a slot. */
  task(piece: Piece, slotAddress: bigint): LaneTask {
    const { direction, host } = this.request;
    const { byteLength } = piece;
    const isUpload = direction === "upload";
    if ("address" in host) {
      const address = host.address + BigInt(piece.offset);
      const [destination, source] = isUpload ? [slotAddress, address] : [address, slotAddress];
      return { operation: "copy", destination, source, byteLength };
    }
    const file = BigInt(host.fileDescriptor);
    const fileOffset = host.fileOffset + piece.offset;
    return isUpload
      ? { operation: "read", destination: slotAddress, source: file, byteLength, fileOffset }
      : { operation: "write", destination: file, source: slotAddress, byteLength, fileOffset };
  }
}
