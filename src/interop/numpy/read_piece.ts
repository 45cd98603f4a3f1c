// Reads a piece of a file of numpy's: small ones in the call, large ones on another thread.

import type { DiskFile } from "../../disk/disk_file.ts";
import { factsOf } from "../../disk/file_facts.ts";
import { NumpyError } from "../../numpy/npy_header.ts";

/** Reading so many bytes takes longer than the way to another thread. */
const MIN_THREAD_BYTES = 128 * 2 ** 10;

/**
 * Fills an array from a place in a file.
 *
 * @throws NumpyError when the file ends too early.
 */
export async function readPiece(
  file: DiskFile,
  bytes: Uint8Array<ArrayBuffer>,
  fileOffset: number,
): Promise<void> {
  if (bytes.byteLength < MIN_THREAD_BYTES) return void readWhole(file, bytes, fileOffset);
  try {
    await file.read(bytes, fileOffset);
  } catch (error) {
    const { byteLength } = factsOf(file.descriptor, file.path);
    throw byteLength < fileOffset + bytes.byteLength ? cutOff(file) : error;
  }
}

/**
 * Fills an array from a place in a file, and blocks meanwhile.
 *
 * @throws NumpyError when the file ends too early.
 */
export function readWhole(
  file: DiskFile,
  bytes: Uint8Array<ArrayBuffer>,
  fileOffset: number,
): Uint8Array<ArrayBuffer> {
  if (file.readSomeSync(bytes, fileOffset) < bytes.byteLength) throw cutOff(file);
  return bytes;
}

function cutOff({ path }: DiskFile): NumpyError {
  return new NumpyError(path, "it was cut off");
}
