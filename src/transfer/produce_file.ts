// Writes a file of known size, and leaves no half of it when that fails.

import { O } from "../../ffi/host.ts";
import { checkRegular, DiskFile, type FilePath, pathOf } from "./disk_file.ts";

/** A file to write, or a part of it. */
export interface FileTarget {
  /** Where it lies; made when it is not there. */
  readonly path: FilePath;
  /** Where the bytes go. Without an offset they replace what the file held. */
  readonly offset?: number | undefined;
  /** How many bytes will be written. */
  readonly byteLength: number;
  /** Ends it before the file is changed; what `body` does with it afterwards is its own. */
  readonly signal?: AbortSignal | undefined;
}

/** Files that are being written, by path: who writes one as well comes after, also after a failure. */
const running = new Map<string, Promise<void>>();

/**
 * Opens a file for writing, at its final size, and lets `body` fill it. When that fails, a new file
 * is removed and a replaced one left empty, so that half of a file is never taken for a whole one.
 * A signal that was aborted before leaves everything as it was. Two that write the same path take
 * turns.
 *
 * @throws Deno.errors.NotCapable without `--allow-write`, and what else Deno reports.
 * @throws TypeError when it is a pipe or a device.
 */
export async function produceFile(
  target: FileTarget,
  body: (file: DiskFile) => Promise<void>,
): Promise<void> {
  const path = pathOf(target.path);
  const before = running.get(path);
  const turn = before === undefined
    ? produce(path, target, body)
    : before.then(() => {}, () => {}).then(() => produce(path, target, body));
  running.set(path, turn);
  try {
    await turn;
  } finally {
    if (running.get(path) === turn) running.delete(path);
  }
}

async function produce(
  path: string,
  target: FileTarget,
  body: (file: DiskFile) => Promise<void>,
): Promise<void> {
  const { offset = 0, byteLength, signal } = target;
  await checkExisting(path);
  signal?.throwIfAborted();
  const { handle, isNew } = await openOrCreate(path);
  using _handle = handle;
  const info = await handle.stat();
  checkRegular(path, info);
  const replaces = target.offset === undefined;
  let isTouched = false;
  try {
    signal?.throwIfAborted();
    isTouched = true;
    const end = offset + byteLength;
    // Not by way of 0: ext4 would then wait for the disk when the file is closed.
    if (replaces || info.size < end) await handle.truncate(end);
    using file = new DiskFile(path, O.WRONLY);
    file.reserve(offset, byteLength);
    await body(file);
  } catch (error) {
    if (isNew) await Deno.remove(path);
    else if (replaces && isTouched) await handle.truncate(0);
    throw error;
  }
}

/** Looks at what is there before opening it, where reading is allowed: opening a pipe would wait. */
async function checkExisting(path: string): Promise<void> {
  const { state } = await Deno.permissions.query({ name: "read", path });
  if (state !== "granted") return;
  try {
    checkRegular(path, await Deno.stat(path));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

async function openOrCreate(path: string): Promise<{ handle: Deno.FsFile; isNew: boolean }> {
  try {
    return { handle: await Deno.open(path, { write: true, createNew: true }), isNew: true };
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    return { handle: await Deno.open(path, { write: true }), isNew: false };
  }
}
