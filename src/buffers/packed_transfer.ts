// Many arrays to the device or back: small ones packed, so that few copies move all of them; large
// ones by themselves.

import { findHost } from "../../ffi/host.ts";
import type { Allocation } from "../memory/allocation.ts";
import { Hold } from "../memory/hold.ts";
import type { CudaStream } from "../stream.ts";
import { areApart } from "../transfer/address_ranges.ts";
import { TransferEngine } from "../transfer/engine.ts";
import { addressOf, type HostView } from "../transfer/host_memory.ts";
import { noteTransfer, orderTransfer, type TransferOptions } from "../transfer/host_transfer.ts";
import type { PackPiece } from "../transfer/pack.ts";
import { cutPacked } from "../transfer/packed_pieces.ts";
import { ProgressTotal } from "../transfer/progress_total.ts";
import type { RingRequest } from "../transfer/ring_transfer.ts";
import type { TransferableBuffer } from "./transferable_buffer.ts";

/** From this size on a call of its own costs little beside the copy itself. */
const LARGE_FROM_BYTES = 512 * 2 ** 10;

/** One array and the buffer that it fills or is filled from. */
export interface PackItem {
  /** The buffer. */
  readonly buffer: TransferableBuffer;
  /** The array, as many bytes as the buffer has. */
  readonly bytes: HostView;
}

/** How to transfer many arrays. */
export interface PackedTransfer extends TransferOptions {
  /** Which way they go. */
  readonly direction: "upload" | "download";
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** Whether nothing lies between buffers that are neighbours in one block. */
  readonly ownsPadding?: boolean;
}

/** Moves all arrays; resolves when they are there. Of arrays that overlap the later one stays. */
export async function transferPacked(
  items: readonly PackItem[],
  options: PackedTransfer,
): Promise<void> {
  const { direction, onProgress, signal } = options;
  signal?.throwIfAborted();
  if (findHost() === undefined) return await moveEach(items, options);
  const arrays = items.map(({ buffer, bytes }): PackPiece => {
    return { span: buffer.span, hostAddress: addressOf(bytes) };
  });
  using _holds = holdAll(arrays);
  if (!areApartIn(direction, arrays)) return await moveEach(items, options);
  const progress = new ProgressTotal(bytesIn(arrays), onProgress);
  await packAll(arrays.filter(({ span }) => isSmall(span)), {
    ...options,
    keeps: items,
    onProgress: progress.part(),
  });
  const large = items.filter(({ buffer }) => !isSmall(buffer));
  await moveEach(large, { ...options, onProgress: progress.part() });
}

/** Keeps all memory that is used, also when buffers are disposed meanwhile. */
function holdAll(arrays: readonly PackPiece[]): Disposable {
  const holds: Disposable[] = [];
  let last: Allocation | undefined;
  for (const { span: { allocation } } of arrays) {
    if (allocation !== last) holds.push(allocation.hold()); // neighbours often share a block
    last = allocation;
  }
  return new Hold(() => {
    for (const hold of holds) hold[Symbol.dispose]();
  });
}

function areApartIn(direction: "upload" | "download", arrays: readonly PackPiece[]): boolean {
  if (direction === "upload") return areApart(arrays.map(({ span }) => span));
  return areApart(arrays.map(({ span, hostAddress }) => {
    return { address: hostAddress, byteLength: span.byteLength };
  }));
}

function isSmall({ byteLength }: { readonly byteLength: number }): boolean {
  return byteLength < LARGE_FROM_BYTES;
}

async function packAll(
  arrays: readonly PackPiece[],
  options: PackedTransfer & Pick<RingRequest, "keeps">,
): Promise<void> {
  const { direction, stream, ownsPadding = false, keeps, onProgress, signal } = options;
  const byteLength = bytesIn(arrays);
  if (byteLength === 0) return;
  for (const { span } of arrays) orderTransfer({ direction, span, stream });
  const largestBytes = arrays.reduce((most, { span }) => Math.max(most, span.byteLength), 0);
  const takesPadding = direction === "download" || ownsPadding;
  const cut = cutPacked(arrays, { direction, largestBytes, takesPadding });
  const engine = TransferEngine.of(stream.context);
  engine.anticipate(byteLength, { canLend: false }); // lists of copies are not lent
  await engine.run({ direction, stream, byteLength, keeps, cut, onProgress, signal });
  for (const { span } of arrays) noteTransfer({ direction, span, stream });
}

/** Moves arrays one after another, each by the way that fits its size. */
async function moveEach(items: readonly PackItem[], options: PackedTransfer): Promise<void> {
  const { direction, onProgress, ...choice } = options;
  const totalBytes = items.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
  const progress = new ProgressTotal(totalBytes, onProgress);
  for (const { buffer, bytes: { buffer: memory, byteOffset, byteLength } } of items) {
    const untyped = new DataView(memory, byteOffset, byteLength); // every buffer takes that
    const one = { ...choice, onProgress: progress.part() };
    if (direction === "upload") await buffer.upload(untyped, one);
    else await buffer.download(untyped, one);
  }
}

function bytesIn(arrays: readonly PackPiece[]): number {
  return arrays.reduce((sum, { span }) => sum + span.byteLength, 0);
}
