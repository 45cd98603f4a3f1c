// Moves ordinary host memory to the device and back, in the order of a stream.
// Small transfers are one driver call; large ones go through the ring, several times as fast.

import { MADV, openHost } from "../../ffi/host.ts";
import { requireUnrecorded } from "../memory/captured_memory.ts";
import type { CudaStream } from "../stream.ts";
import { nextTurn } from "../waiting.ts";
import { cutBlock } from "./block_pieces.ts";
import type { MemorySpan } from "./copy.ts";
import type { Lending } from "./copy_lanes.ts";
import { TransferEngine } from "./engine.ts";
import type { RingRequest } from "./ring_transfer.ts";
import { addressOf, type HostView } from "./host_memory.ts";
import { DRIVER_PIECE_BYTES, SMALLEST_RING_BYTES } from "./ways.ts";

/** What a call costs by itself, as bytes that would move meanwhile. */
const CALL_BYTES = 64 * 2 ** 10;

/** Brief transfers that may follow each other before the event loop has a turn: some 4 ms. */
const TURN_BYTES = 64 * 2 ** 20;

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
  /** The device's side; whoever awaits the transfer holds its block. */
  readonly span: MemorySpan;
  /** The host's side, of the same size; it stays referenced until the transfer is over. */
  readonly bytes: HostView;
  /** Whether nothing has touched the host's memory yet, so that its pages are still to come. */
  readonly isFresh?: boolean;
  /** Whether it is a look at memory that no counter and no timeline shows. */
  readonly isUncounted?: boolean;
}

/**
 * Moves the bytes, after what other streams do with the memory. Returns a promise that resolves when
 * they are there, or nothing when they are there already, as after most small transfers.
 */
export function transfer(task: HostTransfer): Promise<void> | undefined {
  const { stream, bytes, signal } = task;
  signal?.throwIfAborted();
  const { byteLength } = bytes;
  if (byteLength === 0) return undefined;
  orderTransfer(task);
  if (byteLength >= SMALLEST_RING_BYTES || !stream.isKnownIdle) {
    noteTransfer(task);
    return transferInTurn(task);
  }
  moveBriefly(task);
  return turnWhenDue(byteLength);
}

let unbrokenBytes = 0;

/** Awaiting what is over comes back at once; after some milliseconds of that others have a turn. */
function turnWhenDue(byteLength: number): Promise<void> | undefined {
  unbrokenBytes += byteLength + CALL_BYTES;
  if (unbrokenBytes < TURN_BYTES) return undefined;
  unbrokenBytes = 0;
  return nextTurn();
}

/** Moves the bytes, after what other streams do with the memory, and blocks until they are there. */
export function transferSync(task: HostTransfer): void {
  const { stream, bytes, onProgress } = task;
  const { byteLength } = bytes;
  if (byteLength === 0) return;
  orderTransfer(task);
  if (byteLength < SMALLEST_RING_BYTES) return moveBriefly(task);
  noteTransfer(task);
  for (let offset = 0; offset < byteLength;) {
    const rest = byteLength - offset;
    const engine = ringFor(task, rest, { canLend: false });
    if (engine !== undefined) return engine.runSync(ringRequest(task, offset));
    const piece = { offset, byteLength: Math.min(rest, DRIVER_PIECE_BYTES) };
    queuePiece(task, piece);
    stream.synchronizeSync();
    offset += piece.byteLength;
    onProgress?.(offset, byteLength);
  }
}

/** Moves few bytes, and does all that can wait while they are on their way. */
function moveBriefly(task: HostTransfer): void {
  queueByDriver(task);
  noteTransfer(task);
  task.stream.synchronizeSync();
  const { byteLength } = task.bytes;
  task.onProgress?.(byteLength, byteLength);
}

const ACTIONS = {
  upload: "upload ordinary memory",
  download: "download ordinary memory",
} as const satisfies Record<HostTransfer["direction"], string>;

/** What of a transfer decides its order and is counted, whatever is on the host's side. */
type TransferFacts = Pick<HostTransfer, "direction" | "span" | "stream" | "isUncounted">;

/**
 * Makes the stream wait for what others do with the device's memory.
 *
 * @throws TypeError when the stream is being captured: ordinary memory may have moved by a launch.
 */
export function orderTransfer({ direction, span, stream }: TransferFacts): void {
  requireUnrecorded(span.allocation, stream, ACTIONS[direction]);
  span.allocation.order(stream, direction === "upload" ? "write" : "read");
}

/** Counts a transfer, and notes it in the timeline. */
export function noteTransfer({ direction, span, stream, isUncounted }: TransferFacts): void {
  if (isUncounted === true) return;
  const { allocation, byteLength } = span;
  const ends = direction === "upload"
    ? { destination: allocation, streamHandle: stream.key }
    : { source: allocation, streamHandle: stream.key };
  stream.context.noteCopy(byteLength, ends);
}

/**
 * Goes through the ring when threads can be had, else by calls of the driver's. Those block the thread
 * while the stream has other work, so that work is awaited first, and while they stage the bytes:
 * what is left to wait for then is over sooner than another thread could tell.
 */
async function transferInTurn(task: HostTransfer): Promise<void> {
  const { stream, bytes, signal, onProgress } = task;
  const { byteLength } = bytes;
  for (let offset = 0; offset < byteLength;) {
    signal?.throwIfAborted();
    const rest = byteLength - offset;
    const engine = ringFor(task, rest, { canLend: true });
    if (engine !== undefined) return await engine.run(ringRequest(task, offset));
    if (!stream.isKnownIdle) await stream.synchronize();
    const piece = { offset, byteLength: Math.min(rest, DRIVER_PIECE_BYTES) };
    queuePiece(task, piece);
    stream.synchronizeSync();
    offset += piece.byteLength;
    onProgress?.(offset, byteLength);
    if (offset < byteLength) await nextTurn();
  }
}

/** The engine when what is left should go through the ring. */
function ringFor(
  { stream, bytes }: HostTransfer,
  rest: number,
  how: Lending,
): TransferEngine | undefined {
  if (rest < SMALLEST_RING_BYTES) return undefined;
  const engine = TransferEngine.of(stream.context);
  if (rest === bytes.byteLength) engine.anticipate(rest, how);
  return engine.wayFor(rest, how) === "ring" ? engine : undefined;
}

/** Everything in one call of the driver's, which stages pageable memory itself. */
function queueByDriver({ direction, stream, span, bytes }: HostTransfer): void {
  const device = span.address;
  const size = BigInt(bytes.byteLength);
  const { context, handle } = stream;
  const { api } = context.driver;
  const host = bytes as BufferSource;
  if (direction === "upload") {
    const status = api.cuMemcpyHtoDAsync_v2(device, host, size, handle);
    context.settle(status, "cuMemcpyHtoDAsync_v2", device, host, size, handle);
  } else {
    const status = api.cuMemcpyDtoHAsync_v2(host, device, size, handle);
    context.settle(status, "cuMemcpyDtoHAsync_v2", host, device, size, handle);
  }
}

/** A part in one call of the driver's. */
function queuePiece(task: HostTransfer, part: { offset: number; byteLength: number }): void {
  const { offset, byteLength } = part;
  const { allocation, address } = task.span;
  const span = { allocation, address: address + BigInt(offset), byteLength };
  const { buffer, byteOffset } = task.bytes;
  queueByDriver({ ...task, span, bytes: new Uint8Array(buffer, byteOffset + offset, byteLength) });
}

/** What the ring is to move: everything from `offset` on. */
function ringRequest(task: HostTransfer, offset: number): RingRequest {
  const { direction, stream, span, bytes, isFresh = false, onProgress, signal } = task;
  const byteLength = bytes.byteLength - offset;
  const address = addressOf(bytes) + BigInt(offset);
  const deviceAddress = span.address + BigInt(offset);
  if (isFresh) askForHugePages(address, byteLength);
  return {
    direction,
    stream,
    byteLength,
    keeps: bytes,
    cut: cutBlock({ direction, deviceAddress, host: { address }, byteLength, isFresh }),
    isFresh,
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
