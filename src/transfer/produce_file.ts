// Writes a file of known size: all of it beside the old one, or a part of it in place. Writers of one
// file take turns, within the program by the order of their calls, among programs by its lock.

import { FileChange } from "./file_change.ts";
import type { DiskFile } from "./disk_file.ts";
import { type FilePath, pathOf, realPathOf, requireAccess } from "./file_path.ts";
import { FileReplacement } from "./file_replacement.ts";
import { FileTurn } from "./file_turns.ts";
import type { FileWrite } from "./file_write.ts";

/** How a file is written. */
export interface WritingOptions {
  /**
   * Whether the promise waits until the file and its name are on the disk, so that they survive a
   * loss of power (fsync). Without it they survive the end of the program, however it ends.
   */
  readonly sync?: boolean | undefined;
  /**
   * Whether to write into the file itself and not beside it: for devices, and where the program may
   * not make a file in the folder. When it fails or the program is killed, the old bytes are lost.
   */
  readonly inPlace?: boolean | undefined;
}

/** A file to write, or a part of it. */
export interface FileTarget extends WritingOptions {
  /** Where it lies; made when it is not there. */
  readonly path: FilePath;
  /** Where the bytes go. Without an offset they replace what the file held. */
  readonly offset?: number | undefined;
  /** How many bytes will be written. */
  readonly byteLength: number;
  /** Ends it, at any moment until the new file takes its place. */
  readonly signal?: AbortSignal | undefined;
}

/** A write that has its place in the order of calls, and its turn. */
export interface OrderedWrite {
  /** What to do when it is due. */
  readonly write: FileWrite;
  /** Its turn; the caller disposes it when the write was committed or abandoned. */
  readonly turn: FileTurn;
}

/** Between two looks whether another process has let the file go. */
const LOCK_POLL_MILLISECONDS = 10;

/**
 * Writes a file and lets `body` fill it. Without an offset the new file takes the place of the old
 * one when all of it is written, so that there is never half of one: when anything fails the old file
 * is there, untouched.
 *
 * @throws Deno.errors.NotCapable without `--allow-write`, and what else the system reports.
 * @throws TypeError when it is a folder or a pipe, or a device without `inPlace`.
 */
export async function produceFile(
  target: FileTarget,
  body: (file: DiskFile) => Promise<void>,
): Promise<void> {
  const { write, turn } = orderWrite(target);
  using _turn = turn;
  await turn.due(target.signal);
  await begin(write, target.signal);
  try {
    await body(write.file);
    target.signal?.throwIfAborted();
    await write.commit();
  } catch (error) {
    write.abandon();
    throw error;
  }
}

/** Finds the file, and takes its turn there; nothing is opened yet. */
export function orderWrite(target: FileTarget): OrderedWrite {
  const { byteLength, offset, inPlace = false, sync = false } = target;
  const path = pathOf(target.path);
  requireAccess(path, "write");
  const realPath = realPathOf(path);
  const place = { path, realPath };
  const write = offset === undefined && !inPlace
    ? new FileReplacement(place, { byteLength, sync })
    : new FileChange(place, { offset, byteLength, inPlace, sync });
  return { write, turn: new FileTurn(realPath, "write") };
}

/** Begins as soon as no other process writes the file. */
async function begin(write: FileWrite, signal: AbortSignal | undefined): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    if (write.tryBegin()) return;
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MILLISECONDS));
  }
}
