// Moves ordinary host memory to the device and back, in the order of a stream.
// Small transfers are one driver call; large ones go through the ring, several times as fast.

import { MADV, openHost } from "../../ffi/host.ts";
import type { CudaStream } from "../stream.ts";
import { TransferEngine } from "./engine.ts";
import type { Piece, RingRequest } from "./ring_transfer.ts";
import { BRIEF_BYTES, DRIVER_PIECE_BYTES, SMALLEST_RING_BYTES } from "./ways.ts";

/** What a caller may want of a transfer. */
export interface TransferOptions {
  /** Called as bytes arrive; large transfers call it for every few MiB, small ones once. */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
  /** Ends the transfer early; it rejects once nothing is in flight any more. */
  readonly signal?: AbortSignal | undefined;
}

/** One transfer between host bytes and device memory. */
export interface HostTransfer extends TransferOptions {
  /** Which way the bytes go. */
  readonly direction: "upload" | "download";
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** Address on the device. */
  readonly address: bigint;
  /** The host's side; it stays referenced until the transfer is over. */
  readonly bytes: Uint8Array<ArrayBufferLike>;
  /** Whether nothing has touched the host's memory yet, so that its pages are still to come. */
  readonly isFresh?: boolean;
}

/**
 * Moves the bytes. Returns a promise that resolves when they are there, or nothing when they are
 * there already, as after most small transfers.
 */
export function transfer(task: HostTransfer): Promise<void> | undefined {
  const { stream, bytes, signal } = task;
  signal?.throwIfAborted();
  const { byteLength } = bytes;
  if (byteLength === 0) return undefined;
  if (byteLength > BRIEF_BYTES || !stream.isKnownIdle) return transferInTurn(task);
  queuePiece(task, { offset: 0, byteLength });
  stream.synchronizeSync();
  task.onProgress?.(byteLength, byteLength);
}

/** Moves the bytes and blocks until they are there. */
export function transferSync(task: HostTransfer): void {
  const { stream, bytes, onProgress } = task;
  const { byteLength } = bytes;
  for (let offset = 0; offset < byteLength;) {
    const rest = byteLength - offset;
    const engine = ringFor(task, rest);
    if (engine !== undefined) return engine.runSync(ringRequest(task, offset));
    const piece = { offset, byteLength: Math.min(rest, DRIVER_PIECE_BYTES) };
    queuePiece(task, piece);
    stream.synchronizeSync();
    offset += piece.byteLength;
    onProgress?.(offset, byteLength);
  }
}

/**
 * Goes through the ring when its lanes run, else by calls of the driver's. Those block the thread
 * while the stream has other work, so that work is awaited first.
 */
async function transferInTurn(task: HostTransfer): Promise<void> {
  const { stream, bytes, signal, onProgress } = task;
  const { byteLength } = bytes;
  for (let offset = 0; offset < byteLength;) {
    signal?.throwIfAborted();
    const rest = byteLength - offset;
    const engine = ringFor(task, rest);
    if (engine !== undefined) return await engine.run(ringRequest(task, offset));
    if (!stream.isKnownIdle) await stream.synchronize();
    const piece = { offset, byteLength: Math.min(rest, DRIVER_PIECE_BYTES) };
    queuePiece(task, piece);
    await stream.synchronize();
    offset += piece.byteLength;
    onProgress?.(offset, byteLength);
  }
}

/** The engine when what is left should go through the ring. */
function ringFor({ stream, bytes }: HostTransfer, rest: number): TransferEngine | undefined {
  if (rest < SMALLEST_RING_BYTES) return undefined;
  const engine = TransferEngine.of(stream.context);
  if (rest === bytes.byteLength) engine.anticipate(rest);
  return engine.wayFor(rest) === "ring" ? engine : undefined;
}

/** One call of the driver's, which stages pageable memory itself. */
function queuePiece({ direction, stream, address, bytes }: HostTransfer, piece: Piece): void {
  const { offset, byteLength } = piece;
  const part = byteLength === bytes.byteLength
    ? bytes
    : bytes.subarray(offset, offset + byteLength);
  const device = address + BigInt(offset);
  const size = BigInt(byteLength);
  const { context, handle } = stream;
  const { api } = context.driver;
  const host = part as BufferSource;
  if (direction === "upload") {
    const status = api.cuMemcpyHtoDAsync_v2(device, host, size, handle);
    context.settle(status, "cuMemcpyHtoDAsync_v2", device, host, size, handle);
  } else {
    const status = api.cuMemcpyDtoHAsync_v2(host, device, size, handle);
    context.settle(status, "cuMemcpyDtoHAsync_v2", host, device, size, handle);
  }
}

/** What the ring is to move: everything from `offset` on. */
function ringRequest(task: HostTransfer, offset: number): RingRequest {
  const { direction, stream, address, bytes, onProgress, signal } = task;
  const byteLength = bytes.byteLength - offset;
  const start = Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes as BufferSource));
  const hostAddress = start + BigInt(offset);
  if (task.isFresh === true) askForHugePages(hostAddress, byteLength);
  return {
    direction,
    stream,
    deviceAddress: address + BigInt(offset),
    host: { address: hostAddress },
    byteLength,
    isFresh: task.isFresh ?? false,
    onProgress: onProgress && ((done) => onProgress(offset + done, bytes.byteLength)),
    signal,
  };
}

const HUGE_PAGE_BYTES = 2n ** 21n;

/** Pages of 2 MiB more than double the speed of filling fresh memory (madvise). */
function askForHugePages(address: bigint, byteLength: number): void {
  const start = (address + HUGE_PAGE_BYTES - 1n) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
  const end = (address + BigInt(byteLength)) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
  if (end > start) openHost().madvise(start, end - start, MADV.HUGEPAGE);
}
