// Fills arrays on the GPU from files of numpy's whose bytes the host has to see: small arrays at once,
// large ones in pieces through two page-locked blocks. Memory for the array comes first.

import type { DeviceAllocator, DeviceBuffer } from "../../buffers/device_buffer.ts";
import { type AllocateOptions, allocationOf } from "../../buffers/place_options.ts";
import { toShape } from "../../buffers/shape.ts";
import { type DType, elementBytes } from "../../dtype.ts";
import { takeAfterCollection } from "../../memory/out_of_memory.ts";
import type { NpyHeader } from "../../numpy/npy_header.ts";
import type { CudaStream } from "../../order/stream.ts";
import { transfer } from "../../transfer/host_transfer.ts";
import type { TransferOptions } from "../../transfer/pending_transfer.ts";
import { StagedWriter } from "../../transfer/staged_writer.ts";
import { wholeOf } from "../../transfer/web_streams.ts";
import { finished, finishedLater } from "../../words/finished.ts";
import { reportProgress } from "../../words/progress.ts";

/** Bytes of an array that are in ordinary memory at a time: a multiple of every element's size. */
const PIECE_BYTES = 2 ** 20;

/** An array on its way to the GPU. */
interface LoadRequest {
  readonly gpu: DeviceAllocator;
  readonly header: NpyHeader;
  readonly stream: CudaStream;
  readonly options: AllocateOptions & TransferOptions;
}

/** The bytes of an array's elements. */
export interface ElementBytes {
  /** Fills an array with the next bytes. */
  read(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Checks that all were read rightly; what it throws fails the array. */
  finish?(): Promise<void>;
}

/** Returns the bytes of the elements that a header announces. */
export function dataBytesOf({ dtype, count }: NpyHeader): number {
  return count * elementBytes(dtype);
}

/** Allocates an array and fills it; the GPU transposes one in Fortran order. */
export async function filled(
  { gpu, header, stream, options }: LoadRequest,
  fill: (buffer: DeviceBuffer) => Promise<void>,
): Promise<DeviceBuffer> {
  const { dtype, isFortran } = header;
  const shape = toShape(header.shape);
  const isReversed = isFortran && shape.length > 1;
  const lying = isReversed ? shape.toReversed() : shape;
  const allocate = (sizes: readonly number[]): DeviceBuffer => {
    return gpu.alloc<DType>(dtype, sizes, allocationOf(options));
  };
  const taken = takeAfterCollection(gpu.context, () => allocate(lying));
  const buffer = await finishedLater(taken, fill);
  if (!isReversed) return buffer;
  using turned = buffer;
  return finished(allocate(shape), (straight) => {
    turned.transpose().copyTo(straight, { stream });
  });
}

/** Fills an array with bytes that are read one after another, in little-endian order then. */
export async function fillFrom(
  buffer: DeviceBuffer,
  { header, stream, options: { onProgress, signal } }: LoadRequest,
  source: ElementBytes,
): Promise<void> {
  const { byteLength } = buffer;
  const bytes = new Uint8Array(Math.min(PIECE_BYTES, byteLength));
  const next = async (piece: Uint8Array<ArrayBuffer>) => {
    await source.read(piece);
    if (header.isBigEndian) {
      swapBytes(piece, header.dtype === "complex64" ? 4 : elementBytes(header.dtype));
    }
    return piece;
  };
  if (byteLength <= PIECE_BYTES) {
    await next(bytes);
    await source.finish?.();
    const task = { direction: "upload", host: { memory: bytes }, isPlaced: true } as const;
    await transfer({ ...task, span: buffer.span, stream, onProgress, signal });
    return;
  }
  const report = (doneBytes: number) => reportProgress(onProgress, doneBytes, byteLength);
  const writer = new StagedWriter(wholeOf(buffer, stream), report);
  try {
    for (let at = 0; at < byteLength; at += PIECE_BYTES) {
      await writer.write(await next(bytes.subarray(0, byteLength - at)));
    }
    await source.finish?.();
    signal?.throwIfAborted();
    await writer.finish();
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

function swapBytes(bytes: Uint8Array, width: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + width <= bytes.byteLength; at += width) {
    if (width === 2) view.setUint16(at, view.getUint16(at), true);
    else if (width === 4) view.setUint32(at, view.getUint32(at), true);
    else view.setBigUint64(at, view.getBigUint64(at), true);
  }
}
