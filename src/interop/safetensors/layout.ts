// Where the tensors of a file go in one block of device memory: as they lie in the file, so that
// neighbours move in one piece, but never where a tensor's elements would be misaligned.

import { elementBytes } from "../../dtype.ts";
import type { TensorEntry } from "./header.ts";
import { heldAs } from "./formats.ts";

/** Bytes to which what does not follow its neighbour is aligned. */
const ALIGNMENT = 256;

/** Bytes that lie side by side in the file and in the block. */
export interface FileRun {
  /** Where in the file's data. */
  readonly fileOffset: number;
  /** Where in the block. */
  readonly blockOffset: number;
  /** Number of bytes. */
  readonly byteLength: number;
}

/** A tensor's place in the block. */
export interface PlacedTensor {
  /** The tensor as the file describes it. */
  readonly entry: TensorEntry;
  /** Where in the block. */
  readonly blockOffset: number;
}

/** How a block holds tensors of a file. */
export interface BlockLayout {
  /** Bytes of the block. */
  readonly byteLength: number;
  /** What to read, in the order of the file. */
  readonly runs: readonly FileRun[];
  /** The tensors, in the order of the file. */
  readonly tensors: readonly PlacedTensor[];
}

/** Places tensors, given in the order of the file. */
export function placeTensors(entries: readonly TensorEntry[]): BlockLayout {
  const runs: FileRun[] = [];
  const tensors: PlacedTensor[] = [];
  let byteLength = 0;
  for (const entry of entries) {
    const last = runs.at(-1);
    const joins = last !== undefined && last.fileOffset + last.byteLength === entry.byteOffset &&
      byteLength % elementBytes(heldAs(entry.format, entry).dtype) === 0;
    const blockOffset = joins ? byteLength : Math.ceil(byteLength / ALIGNMENT) * ALIGNMENT;
    if (joins) {
      runs[runs.length - 1] = { ...last, byteLength: last.byteLength + entry.byteLength };
    } else {
      runs.push({ fileOffset: entry.byteOffset, blockOffset, byteLength: entry.byteLength });
    }
    tensors.push({ entry, blockOffset });
    byteLength = blockOffset + entry.byteLength;
  }
  return { byteLength, runs, tensors };
}
