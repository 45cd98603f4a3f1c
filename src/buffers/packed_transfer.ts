// Many arrays to the device or back: small ones packed, a slab being copied by the CPU while the GPU
// copies the other; large ones by themselves.

import type { CudaStream } from "../stream.ts";
import type { TransferOptions } from "../transfer/host_transfer.ts";
import { type PackPiece, packPieces } from "../transfer/pack.ts";
import { ProgressTotal } from "../transfer/progress_total.ts";
import { SLAB_BYTES, StagingSlab } from "./staging_slab.ts";
import type { TransferableBuffer } from "./transferable_buffer.ts";

/** From this size on a call of its own costs little beside the copy itself. */
const LARGE_FROM_BYTES = SLAB_BYTES / 4;

/** One array and the buffer that it fills or is filled from. */
export interface PackItem {
  /** The buffer. */
  readonly buffer: TransferableBuffer;
  /** The array's bytes, as many as the buffer has. */
  readonly bytes: Uint8Array<ArrayBufferLike>;
}

/** How to transfer many arrays. */
export interface PackedTransfer extends TransferOptions {
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** Whether nothing lies between buffers that are neighbours in one block. */
  readonly ownsPadding?: boolean;
}

/** Moves all arrays to their buffers; resolves when they are there. */
export async function uploadPacked(
  items: readonly PackItem[],
  options: PackedTransfer,
): Promise<void> {
  const { stream, signal } = options;
  const { loads, large, progress } = plan(items, options.ownsPadding ?? false, options);
  using slabs = new SlabPair(stream);
  for (const [index, load] of loads.entries()) {
    const slab = slabs.at(index);
    await slab.whenDone();
    signal?.throwIfAborted();
    slab.send(load);
    progress.part()(load.byteLength);
  }
  if (loads.length > 0) await stream.synchronize();
  for (const { buffer, bytes } of large) {
    await buffer.upload(untyped(bytes), { stream, signal, onProgress: progress.part() });
  }
}

/** Moves all buffers into their arrays; resolves when they are filled. */
export async function downloadPacked(
  items: readonly PackItem[],
  options: PackedTransfer,
): Promise<void> {
  const { stream, signal } = options;
  const { loads, large, progress } = plan(items, true, options);
  using slabs = new SlabPair(stream);
  const fetch = (index: number) => {
    const load = loads[index];
    if (load !== undefined) slabs.at(index).fetch(load);
  };
  fetch(0);
  for (const [index, load] of loads.entries()) {
    fetch(index + 1);
    await slabs.at(index).whenDone();
    signal?.throwIfAborted();
    slabs.at(index).unpack(load);
    progress.part()(load.byteLength);
  }
  for (const { buffer, bytes } of large) {
    await buffer.download(untyped(bytes), { stream, signal, onProgress: progress.part() });
  }
}

/** Two slabs, taken when they are first needed. */
class SlabPair implements Disposable {
  readonly #stream: CudaStream;
  readonly #slabs: StagingSlab[] = [];

  constructor(stream: CudaStream) {
    this.#stream = stream;
  }

  /** The slab for a load; loads take turns. */
  at(index: number): StagingSlab {
    return this.#slabs[index % 2] ??= new StagingSlab(this.#stream);
  }

  [Symbol.dispose](): void {
    for (const slab of this.#slabs) slab[Symbol.dispose]();
  }
}

function plan(items: readonly PackItem[], takesPadding: boolean, options: PackedTransfer) {
  const large: PackItem[] = [];
  const small: PackPiece[] = [];
  let totalBytes = 0;
  options.signal?.throwIfAborted();
  for (const item of items) {
    const { buffer, bytes } = item;
    totalBytes += bytes.byteLength;
    if (bytes.byteLength >= LARGE_FROM_BYTES) large.push(item);
    else small.push({ span: buffer.span, bytes });
  }
  const loads = packPieces(small, { slabBytes: SLAB_BYTES, takesPadding });
  return { loads, large, progress: new ProgressTotal(totalBytes, options.onProgress) };
}

/** The same bytes as memory of no element type, which every buffer takes. */
function untyped({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBufferLike>): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
