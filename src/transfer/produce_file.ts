// Writes a file of known size: all of it beside the old one, or a part of it in place. Writers of one
// file take turns, within the program by the order of their calls, among programs by its lock.

import type { DiskFile } from "../disk/disk_file.ts";
import { FileChange } from "../disk/file_change.ts";
import {
  type FilePath,
  namesFolder,
  pathOf,
  realPathOf,
  requireAccess,
} from "../disk/file_path.ts";
import { FileReplacement } from "../disk/file_replacement.ts";
import { FileTurn } from "../disk/file_turns.ts";
import type { FileWrite } from "../disk/file_write.ts";
import { LockedFile } from "../disk/locked_file.ts";
import { FLAG } from "../words/options.ts";
import { sleep } from "../words/timer.ts";
import { type Step, SteppedWork, type StreamUse } from "./stepped_work.ts";
import { LOCK_MILLISECONDS } from "./ways.ts";
import { visibleText } from "../words/format.ts";

/** Options for writing a file. */
export interface WritingOptions {
  /**
   * The promise waits until the file and its name are on the disk, so that they survive a
   * power loss (fsync). Without it they survive only the end of the program, even a crash.
   */
  readonly sync?: boolean | undefined;
  /**
   * Writes into the file itself instead of a temporary file beside it: needed for
   * devices, and when the program may not create files in the folder. The old bytes are lost when
   * the write fails or the program is killed.
   */
  readonly inPlace?: boolean | undefined;
}

/** Kinds of the options above. */
export const WRITING_KINDS = { sync: FLAG, inPlace: FLAG } as const;

/** A file to write, or a part of it. */
export interface FileTarget extends WritingOptions {
  /** Path of the file, which is created when it does not exist. */
  readonly path: FilePath;
  /** Offset of the bytes in the file. Without it they replace the whole contents. */
  readonly fileOffset?: number | undefined;
  /** Number of bytes that will be written, for which room is made; 0 where it is not known before. */
  readonly byteLength: number;
  /** The memory that fills it, with its contents after all earlier calls. */
  readonly uses: readonly StreamUse[];
  /** Ends it, at any moment until the new file takes its place. */
  readonly signal?: AbortSignal | undefined;
}

/** Fills an open file. */
type Fill = (file: DiskFile) => Iterable<Step>;

/**
 * Writes a file that `fill` fills. Without an offset the new file replaces the old one once all of
 * it is written; after a failure the old file is as it was. Its place in the order, of memory and
 * of files, is that of this call.
 *
 * @throws Deno.errors.NotCapable without `--allow-write`; other errors as the system reports them.
 * @throws TypeError when it is a folder or a pipe, or a device without `inPlace`.
 */
export async function produceFile(
  target: FileTarget,
  fill: Fill,
): Promise<void> {
  const { uses, signal } = target;
  using undo = new DisposableStack(); // a turn without an end holds up later writes for ever
  const ordered = orderWrite(target);
  undo.use(ordered.turn);
  const work = new SteppedWork({ uses, signal, steps: stepsOf(ordered, { fill, signal }) });
  undo.move();
  await work.promise;
}

/** Writes one more file, in steps of work that keeps the memory already. */
export function* writeBeside(
  target: Omit<FileTarget, "uses">,
  fill: Fill,
): Generator<Step, void> {
  yield* stepsOf(orderWrite(target), { fill, signal: target.signal });
}

/** A write that has its place in the order of calls, and its turn. */
interface OrderedWrite {
  readonly write: FileWrite;
  readonly turn: FileTurn;
}

/** Finds the file, and takes its turn there; nothing is opened yet. */
function orderWrite(target: Omit<FileTarget, "uses">): OrderedWrite {
  const { fileOffset, byteLength, inPlace = false, sync = false } = target;
  const path = pathOf(target.path);
  if (namesFolder(target.path)) {
    throw new TypeError(`Cannot write ${visibleText(path)}/: it names a folder, expected a file`);
  }
  requireAccess(path, "write");
  const realPath = realPathOf(path);
  const place = { path, realPath };
  if (fileOffset === undefined && !inPlace) {
    const write = new FileReplacement(place, { byteLength, sync });
    return { write, turn: new FileTurn(realPath, "replace") };
  }
  const write = new FileChange(place, { fileOffset, byteLength, inPlace, sync });
  return { write, turn: new FileTurn(realPath, "change") };
}

function* stepsOf(
  { write, turn }: OrderedWrite,
  { fill, signal }: Pick<FileTarget, "signal"> & { readonly fill: Fill },
): Generator<Step, void> {
  let file: DiskFile | undefined;
  try {
    // Opening and making room takes the system a while, which the call itself should not.
    yield { promise: Promise.resolve(), finishNow: () => true };
    const isDue = () => turn.isDue || signal?.aborted === true;
    if (!turn.isDue) yield { promise: turn.due(signal), finishNow: isDue };
    signal?.throwIfAborted();
    while (!write.tryBegin()) yield untilUnlocked(write, signal);
    file = write.file;
    yield* fill(file);
    signal?.throwIfAborted();
    yield {
      promise: write.commit(),
      finishNow() {
        write.commitSync();
        return true;
      },
    };
  } catch (error) {
    file?.whenUnused(() => write.abandon()); // a lent thread may still write its bytes
    throw error;
  } finally {
    turn.linger();
    if (file === undefined) turn[Symbol.dispose]();
    else file.whenUnused(() => turn[Symbol.dispose]());
  }
}

function untilUnlocked(write: FileWrite, signal: AbortSignal | undefined): Step {
  return {
    promise: sleep(LOCK_MILLISECONDS).then(() => signal?.throwIfAborted()),
    finishNow() {
      signal?.throwIfAborted();
      if (LockedFile.isInUse(write.lockedPath)) return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_MILLISECONDS);
      return true;
    },
  };
}
