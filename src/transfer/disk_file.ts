// An open regular file: reads and writes at any place, none of which comes up short unnoticed.
// Deno checks permission and kind; the descriptor is the C library's, so that copy lanes can use it.

import { fileURLToPath } from "node:url";
import { O, openHost } from "../../ffi/host.ts";
import { cString } from "../../ffi/pointers.ts";
import { CAN_BE_TERMINATED } from "../waiting.ts";
import { addressOf } from "./host_memory.ts";

/** Where a file lies. */
export type FilePath = string | URL;

/** An open regular file. */
export class DiskFile implements Disposable {
  /** Where it lies. */
  readonly path: string;
  /** The C library's descriptor, open until the file is disposed. */
  readonly descriptor: number;
  #holderCount = 1;

  /** Opens a file that Deno has checked; {@link openForReading} does. */
  constructor(path: string, flags: number) {
    this.path = path;
    this.descriptor = openHost().open(cString(path), flags | O.CLOEXEC, 0);
    if (this.descriptor >= 0) return;
    // Names the system's own reason: the C library's errno does not survive the way back here.
    Deno.openSync(path, flags === O.RDONLY ? { read: true } : { write: true }).close();
    throw new Error(`Cannot open ${path}: too many files are open, or it was replaced meanwhile`);
  }

  /** Fills `bytes` from `fileOffset` on. */
  async read(bytes: Uint8Array<ArrayBuffer>, fileOffset: number): Promise<void> {
    await moveWhole(bytes, async (address, byteLength, doneBytes) => {
      const { pread, preadNonblocking } = openHost();
      const at = BigInt(fileOffset + doneBytes);
      const read = CAN_BE_TERMINATED ? pread : preadNonblocking;
      const count = await read(this.descriptor, address, byteLength, at);
      if (count > 0n) return count;
      const reason = count === 0n ? "it ends earlier" : "the disk failed";
      throw new Error(`Cannot read ${byteLength} bytes at ${at} of ${this.path}: ${reason}`);
    });
  }

  /** Writes all of `bytes` from `fileOffset` on. */
  async write(bytes: Uint8Array<ArrayBuffer>, fileOffset: number): Promise<void> {
    await moveWhole(bytes, async (address, byteLength, doneBytes) => {
      const { pwrite, pwriteNonblocking } = openHost();
      const at = BigInt(fileOffset + doneBytes);
      const write = CAN_BE_TERMINATED ? pwrite : pwriteNonblocking;
      const count = await write(this.descriptor, address, byteLength, at);
      if (count > 0n) return count;
      throw new Error(
        `Cannot write ${byteLength} bytes at ${at} of ${this.path}: the disk is full or failed`,
      );
    });
  }

  /** Finds room on the disk for all bytes at once, where the file system can; a third faster. */
  reserve(fileOffset: number, byteLength: number): void {
    if (byteLength > 0) {
      openHost().fallocate(this.descriptor, 0, BigInt(fileOffset), BigInt(byteLength));
    }
  }

  /** Keeps the descriptor open for a thread that uses it, until the result is called. */
  hold(): () => void {
    this.#holderCount++;
    return () => this.#letGo();
  }

  /** Closes the descriptor, once no thread uses it any more. */
  [Symbol.dispose](): void {
    this.#letGo();
  }

  #letGo(): void {
    if (--this.#holderCount === 0) openHost().close(this.descriptor);
  }
}

/** A file opened for reading, and its size at that moment. */
export interface OpenedFile {
  /** The file; the caller disposes it. */
  readonly file: DiskFile;
  /** Its size in bytes. */
  readonly byteLength: number;
}

/**
 * Opens a file for reading.
 *
 * @throws Deno.errors.NotCapable without `--allow-read`, and what else Deno reports.
 * @throws TypeError when it is a folder, a pipe or a device.
 */
export async function openForReading(path: FilePath): Promise<OpenedFile> {
  const name = pathOf(path);
  const info = await Deno.stat(name);
  checkRegular(name, info);
  return { file: new DiskFile(name, O.RDONLY), byteLength: info.size };
}

/** The path as text. */
export function pathOf(path: FilePath): string {
  return typeof path === "string" ? path : fileURLToPath(path);
}

/**
 * Checks that something is a file whose bytes can be read and written at any place.
 *
 * @throws TypeError when it is a folder, a pipe or a device.
 */
export function checkRegular(path: string, info: Deno.FileInfo): void {
  if (info.isFile) return;
  const kind = info.isDirectory ? "a folder" : info.isFifo ? "a pipe" : "a device or a socket";
  throw new TypeError(`Cannot use ${path}: it is ${kind}, expected a regular file`);
}

/** Repeats a call that may move only a part, until all bytes have moved. */
async function moveWhole(
  bytes: Uint8Array<ArrayBuffer>,
  move: (address: bigint, byteLength: bigint, doneBytes: number) => Promise<bigint>,
): Promise<void> {
  const address = addressOf(bytes);
  for (let done = 0; done < bytes.byteLength;) {
    const left = BigInt(bytes.byteLength - done);
    done += Number(await move(address + BigInt(done), left, done));
  }
}
