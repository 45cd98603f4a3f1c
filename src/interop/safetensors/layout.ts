// The layout of a file's tensors in one block of device memory: side by side as in the file, so
// that neighbours move in one piece, unless a tensor's elements would be misaligned.

import { roundUp } from "../../../ffi/alignment.ts";
import { alignmentOf } from "../../dtype.ts";
import { typeOf } from "./formats.ts";
import type { TensorEntry } from "./header.ts";

/** Alignment in bytes of a tensor that does not follow its neighbour. */
const ALIGNMENT = 256;

/** Bytes that lie side by side in the file and in the block. */
export interface FileRun {
  /** Offset in the file's data. */
  readonly fileOffset: number;
  readonly blockOffset: number;
  readonly byteLength: number;
}

/** A tensor's place in the block. */
export interface PlacedTensor {
  /** The tensor as the file describes it. */
  readonly entry: TensorEntry;
  readonly blockOffset: number;
}

/** The layout of a block that holds tensors of a file. */
export interface BlockLayout {
  readonly byteLength: number;
  /** Runs of bytes to read, in the order of the file. */
  readonly runs: readonly FileRun[];
  /** The tensors, in the order of the file. */
  readonly tensors: readonly PlacedTensor[];
}

/** Returns the layout for tensors, given in the order of the file. */
export function placeTensors(entries: readonly TensorEntry[]): BlockLayout {
  const runs: FileRun[] = [];
  const tensors: PlacedTensor[] = [];
  let byteLength = 0;
  for (const entry of entries) {
    const last = runs.at(-1);
    const joins = last !== undefined && last.fileOffset + last.byteLength === entry.byteOffset &&
      byteLength % alignmentOf(typeOf(entry.format)) === 0;
    const blockOffset = joins ? byteLength : roundUp(byteLength, ALIGNMENT);
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
