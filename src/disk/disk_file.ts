// An open file: reads and writes at any offset, never short unnoticed. The C library and copy lanes use
// its descriptor; Deno has granted the path before.

import { cString } from "../../ffi/c_strings.ts";
import {
  ERRNO,
  O,
  O_OF_MACHINE,
  O_PATH,
  POSIX_FADV_DONTNEED,
  RLIMIT_FSIZE,
} from "../../ffi/host.ts";
import { addressOf } from "../memory/host_memory.ts";
import { CAN_BE_TERMINATED } from "../order/waiting.ts";
import { formatBytes, visibleText } from "../words/format.ts";
import { factsOf } from "./file_facts.ts";
import { lastErrno, openSystem, systemError, uninterrupted } from "./system_error.ts";
import { endWithWorker, openInWorker } from "./worker_descriptor.ts";

const LACKS_ROOM: ReadonlySet<number> = new Set([ERRNO.ENOSPC, ERRNO.EDQUOT, ERRNO.EFBIG]);

/** The soft and the hard limit of the size of files. */
const LIMITS = new BigUint64Array(2);

/** Purpose of opening a file; a held file exists until it is closed, also without its name. */
type DiskFileUse = "read" | "write" | "hold";

const FLAGS: Readonly<Record<DiskFileUse, number>> = {
  read: O.RDONLY | O.NONBLOCK | O.CLOEXEC,
  write: O.WRONLY | O.NONBLOCK | O.CLOEXEC,
  hold: O_PATH | O.CLOEXEC,
};

/** An open file. */
export class DiskFile implements Disposable {
  readonly path: string;
  /** The descriptor, open until the file is closed. */
  readonly descriptor: number;
  readonly #closeNow: (descriptor: number) => unknown;
  #isOpen = true;
  /** Threads that may still use it. */
  #holderCount = 0;
  readonly #whenUnused: (() => void)[] = [];

  /**
   * Opens an existing file; a pipe does not wait for its other end. Rejects a link unless
   * `followsLinks` is set. For writing, the caller checks that it opened the right file.
   *
   * @throws Error The error that Deno would throw, with the system's reason.
   */
  constructor(path: string, use: DiskFileUse, { followsLinks = false, shownAs = path } = {}) {
    this.path = shownAs;
    const flags = followsLinks ? FLAGS[use] : FLAGS[use] | O_OF_MACHINE.NOFOLLOW;
    // Locks must end with a worker also in programs that may read nothing.
    const opened = use === "write" && CAN_BE_TERMINATED
      ? openInWorker(path, FLAGS[use])
      : endWithWorker(openBySystem(path, flags));
    this.descriptor = opened.descriptor;
    this.#closeNow = opened.close;
  }

  /** Fills `bytes` from `fileOffset` on. */
  async read(bytes: Uint8Array<ArrayBuffer>, fileOffset: number): Promise<void> {
    if (!await this.#moveAll("pread", bytes, fileOffset)) this.readSync(bytes, fileOffset);
  }

  /** Fills `bytes` from `fileOffset` on, and blocks until they are read. */
  readSync(bytes: Uint8Array<ArrayBuffer>, fileOffset: number): void {
    const done = this.readSomeSync(bytes, fileOffset);
    if (done === bytes.byteLength) return;
    const place = `${bytes.byteLength} bytes at ${fileOffset} of ${visibleText(this.path)}`;
    throw new Error(`Cannot read ${place}: it ends at ${fileOffset + done}`);
  }

  /** Reads up to the end of `bytes` or of the file, and returns the number of bytes read. */
  readSomeSync(bytes: Uint8Array<ArrayBuffer>, fileOffset: number): number {
    return this.#moveSync("pread", bytes, fileOffset);
  }

  /** Writes all of `bytes` from `fileOffset` on. */
  async write(bytes: Uint8Array<ArrayBuffer>, fileOffset: number): Promise<void> {
    if (!await this.#moveAll("pwrite", bytes, fileOffset)) this.writeSync(bytes, fileOffset);
  }

  /** Writes all of `bytes` from `fileOffset` on, and blocks until the system has taken them. */
  writeSync(bytes: Uint8Array<ArrayBuffer>, fileOffset: number): void {
    this.#moveSync("pwrite", bytes, fileOffset);
  }

  /** Moves all bytes, or those up to the end of the file that is read; returns how many. */
  #moveSync(call: "pread" | "pwrite", bytes: Uint8Array<ArrayBuffer>, fileOffset: number): number {
    const { [call]: move } = openSystem();
    const address = addressOf(bytes);
    for (let done = 0; done < bytes.byteLength;) {
      const left = BigInt(bytes.byteLength - done);
      const at = BigInt(fileOffset + done);
      const count = uninterrupted(() => {
        return move(this.descriptor, address + BigInt(done), left, at);
      });
      if (count === 0n && call === "pread") return done;
      if (count <= 0n) {
        const words = `${call.slice(1)} ${left} bytes at ${at} of ${this.path}`;
        throw systemError(words, lastErrno());
      }
      done += Number(count);
    }
    return bytes.byteLength;
  }

  /**
   * Allocates room on the disk for all bytes at once and sets the file's size; a third faster than
   * allocating as bytes come. When the file system cannot, only the size is set.
   *
   * @throws Error when the disk, or the quota, has no room for them.
   */
  reserve(fileOffset: number, byteLength: number): void {
    if (byteLength === 0) return;
    this.requireSize(fileOffset + byteLength);
    const { fallocate } = openSystem();
    const [offset, length] = [BigInt(fileOffset), BigInt(byteLength)];
    if (uninterrupted(() => fallocate(this.descriptor, 0, offset, length)) === 0) return;
    const errno = lastErrno();
    if (LACKS_ROOM.has(errno)) {
      throw systemError(`find room for ${formatBytes(byteLength)} of ${this.path}`, errno);
    }
    const end = fileOffset + byteLength;
    if (factsOf(this.descriptor, this.path).byteLength < end) this.resize(end);
  }

  /** Rejects a size at which the system would end the process, unless that ignores the signal. */
  requireSize(byteLength: number): void {
    if (openSystem().getrlimit(RLIMIT_FSIZE, LIMITS) !== 0) return;
    const [limit = 0n] = LIMITS;
    if (BigInt(byteLength) <= limit) return;
    const allowed = formatBytes(Number(limit));
    throw new Error(
      `Cannot make ${visibleText(this.path)} ${formatBytes(byteLength)} long: this process may ` +
        `write ${allowed} to a file; raise its limit (ulimit -f)`,
    );
  }

  resize(byteLength: number): void {
    const { ftruncate } = openSystem();
    if (uninterrupted(() => ftruncate(this.descriptor, BigInt(byteLength))) === 0) return;
    throw systemError(`make ${this.path} ${byteLength} bytes long`, lastErrno());
  }

  /** Waits until the bytes are on the disk and would survive a loss of power. */
  async flush(): Promise<void> {
    if (CAN_BE_TERMINATED) return this.flushSync();
    const status = await openSystem().fsyncNonblocking(this.descriptor);
    if (status === 0 || !this.#isOpen) return; // flushSync() came before it was closed
    throw systemError(`bring ${this.path} to the disk`, ERRNO.EIO);
  }

  /** Waits until the bytes are on the disk, and blocks meanwhile. */
  flushSync(): void {
    const { fsync } = openSystem();
    if (uninterrupted(() => fsync(this.descriptor)) === 0) return;
    throw systemError(`bring ${this.path} to the disk`, lastErrno());
  }

  /** Has the system forget the file's bytes that it keeps in memory, except those not on the disk yet. */
  dropCached(): void {
    openSystem().posix_fadvise(this.descriptor, 0n, 0n, POSIX_FADV_DONTNEED);
  }

  /** Keeps the descriptor open for a thread that uses it, until the result is called. */
  hold(): () => void {
    this.#holderCount++;
    return () => {
      if (--this.#holderCount > 0) return;
      if (!this.#isOpen) this.#closeNow(this.descriptor);
      for (const action of this.#whenUnused.splice(0)) action();
    };
  }

  /** Tells whether threads use the file, which come back in a turn of the event loop. */
  get isInUse(): boolean {
    return this.#holderCount > 0;
  }

  /** Calls a function as soon as no thread uses the file. */
  whenUnused(action: () => void): void {
    if (this.#holderCount === 0) action();
    else this.#whenUnused.push(action);
  }

  /** Closes the descriptor, once no thread uses it. A second time does nothing. */
  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#holderCount === 0) this.#closeNow(this.descriptor);
  }

  /** Closes it on another thread, because some file systems write or free data then. */
  async close(): Promise<void> {
    if (!this.#isOpen || this.#holderCount > 0 || CAN_BE_TERMINATED) return this[Symbol.dispose]();
    this.#isOpen = false;
    await openSystem().closeNonblocking(this.descriptor);
  }

  /** Returns false when a call failed or moved nothing; repeating it on this thread tells why. */
  async #moveAll(
    call: "pread" | "pwrite",
    bytes: Uint8Array<ArrayBuffer>,
    fileOffset: number,
  ): Promise<boolean> {
    const { [CAN_BE_TERMINATED ? call : `${call}Nonblocking` as const]: move } = openSystem();
    const address = addressOf(bytes);
    for (let done = 0; done < bytes.byteLength;) {
      const left = BigInt(bytes.byteLength - done);
      const at = BigInt(fileOffset + done);
      const count = await move(this.descriptor, address + BigInt(done), left, at);
      if (count <= 0n) return false;
      done += Number(count);
    }
    return true;
  }
}

function openBySystem(path: string, flags: number): number {
  const { open } = openSystem();
  const name = cString(path);
  const descriptor = uninterrupted(() => open(name, flags, 0));
  if (descriptor < 0) throw systemError(`open ${path}`, lastErrno());
  return descriptor;
}
