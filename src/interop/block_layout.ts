// The layout of a file's tensors in one block of device memory: side by side as in the file, so
// that neighbours move in one piece, unless a tensor's elements would be misaligned.

import { roundUp } from "../../ffi/alignment.ts";
import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import { byteLengthOf, type Shape } from "../buffers/shape.ts";
import { nameView } from "../buffers/views.ts";
import { alignmentOf, type DType } from "../dtype.ts";

/** Alignment in bytes of a tensor that does not follow its neighbour. */
const ALIGNMENT = 256;

/** A tensor in a file, and the buffer that is to hold it. */
export interface StoredTensor {
  readonly name: string;
  /** Offset of its first byte in the file. */
  readonly fileOffset: number;
  /** Bytes to read from there: the buffer's, and those that fill up the place before the next tensor. */
  readonly byteLength: number;
  /** The buffer's element type. */
  readonly dtype: DType;
  /** The buffer's shape. */
  readonly shape: Shape;
}

/** Bytes that lie side by side in the file and in the block. */
export interface FileRun {
  readonly fileOffset: number;
  readonly blockOffset: number;
  readonly byteLength: number;
}

/** The layout of a block that holds tensors of a file. */
export interface BlockLayout<T extends StoredTensor> {
  readonly byteLength: number;
  /** Runs of bytes to read, in the order of the file. */
  readonly runs: readonly FileRun[];
  /** The tensors, in the order of the file, and where each begins in the block. */
  readonly tensors: readonly { readonly tensor: T; readonly blockOffset: number }[];
}

/** Returns the layout for tensors, given in the order of the file. */
export function placeTensors<T extends StoredTensor>(stored: readonly T[]): BlockLayout<T> {
  const runs: FileRun[] = [];
  const tensors: BlockLayout<T>["tensors"][number][] = [];
  let byteLength = 0;
  for (const tensor of stored) {
    const { fileOffset, byteLength: ownBytes } = tensor;
    const last = runs.at(-1);
    const joins = last !== undefined && last.fileOffset + last.byteLength === fileOffset &&
      byteLength % alignmentOf(tensor.dtype) === 0;
    const blockOffset = joins ? byteLength : roundUp(byteLength, ALIGNMENT);
    if (joins) runs[runs.length - 1] = { ...last, byteLength: last.byteLength + ownBytes };
    else runs.push({ fileOffset, blockOffset, byteLength: ownBytes });
    tensors.push({ tensor, blockOffset });
    byteLength = blockOffset + ownBytes;
  }
  return { byteLength, runs, tensors };
}

export function viewsOf<T extends StoredTensor>(
  { tensors }: BlockLayout<T>,
  block: DeviceBuffer<"uint8">,
): (readonly [tensor: T, view: DeviceBuffer])[] {
  return tensors.map(({ tensor, blockOffset }) => {
    const { name, dtype, shape } = tensor;
    const bytes = block.subarray(blockOffset, blockOffset + byteLengthOf(dtype, shape));
    return [tensor, nameView(bytes.as(dtype).reshape(shape), name)];
  });
}
