// Moves ordinary host memory to the device and back, in the order of a stream.
// Small transfers are one driver call; large ones go through the ring, several times as fast.

import { MADV, openHost } from "../../ffi/host.ts";
import type { CudaStream } from "../stream.ts";
import { DEFAULT_LIMITS, TransferEngine } from "./engine.ts";
import { isSoon } from "../waiting.ts";
import type { RingRequest } from "./ring_transfer.ts";
import { wayFor } from "./ways.ts";

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
  const { stream, bytes, signal, onProgress } = task;
  signal?.throwIfAborted();
  const { byteLength } = bytes;
  if (byteLength === 0) return undefined;
  const engine = ringFor(task);
  if (engine !== undefined) return engine.run(ringRequest(task));
  queueWhole(task);
  if (!isSoon(() => stream.isIdle)) {
    return stream.synchronize().then(() => onProgress?.(byteLength, byteLength));
  }
  onProgress?.(byteLength, byteLength);
}

/** Moves the bytes and blocks until they are there. */
export function transferSync(task: HostTransfer): void {
  const { stream, bytes, onProgress } = task;
  if (bytes.byteLength === 0) return;
  const engine = ringFor(task);
  if (engine !== undefined) return engine.runSync(ringRequest(task));
  queueWhole(task);
  stream.synchronizeSync();
  onProgress?.(bytes.byteLength, bytes.byteLength);
}

/** The engine when the transfer should go through the ring. */
function ringFor({ stream, bytes }: HostTransfer): TransferEngine | undefined {
  const { byteLength } = bytes;
  if (wayFor(byteLength, DEFAULT_LIMITS.laneCount) === "driver") return undefined;
  const engine = TransferEngine.of(stream.context);
  return engine.isWorthwhile(byteLength) ? engine : undefined;
}

/** One call of the driver's, which stages pageable memory itself. */
function queueWhole({ direction, stream, address, bytes }: HostTransfer): void {
  const size = BigInt(bytes.byteLength);
  const { context, handle } = stream;
  if (direction === "upload") {
    context.driver.call("cuMemcpyHtoDAsync_v2", address, bytes, size, handle);
  } else context.driver.call("cuMemcpyDtoHAsync_v2", bytes, address, size, handle);
}

function ringRequest(task: HostTransfer): RingRequest {
  const { direction, stream, address, bytes, onProgress, signal } = task;
  const { byteLength } = bytes;
  const hostAddress = Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes as BufferSource));
  if (task.isFresh === true) askForHugePages(hostAddress, byteLength);
  return {
    direction,
    stream,
    deviceAddress: address,
    host: { address: hostAddress },
    byteLength,
    isFresh: task.isFresh ?? false,
    onProgress,
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
