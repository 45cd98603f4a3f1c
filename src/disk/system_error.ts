// Errors of the C library, in words and as the class of error that Deno would throw.

import { ERRNO, type HostApi, openHost } from "../../ffi/host.ts";
import { messageOf, visibleText } from "../words/format.ts";

const REASONS: Readonly<Record<number, string>> = {
  [ERRNO.EPERM]: "the system does not permit it",
  [ERRNO.ENOENT]: "it does not exist",
  [ERRNO.EIO]: "the disk failed",
  [ERRNO.EACCES]: "the system's permissions refuse it",
  [ERRNO.EBUSY]: "something is mounted there",
  [ERRNO.EXDEV]: "it lies on another disk",
  [ERRNO.ENOTDIR]: "a part of the path is not a folder",
  [ERRNO.EISDIR]: "it is a folder",
  [ERRNO.ENFILE]: "the system has too many files open",
  [ERRNO.EMFILE]: "the program has too many files open; raise its limit (ulimit -n)",
  [ERRNO.EFBIG]: "files there cannot be so large",
  [ERRNO.ENOSPC]: "the disk is full",
  [ERRNO.ESPIPE]: "it cannot be written at a place of choice",
  [ERRNO.EROFS]: "the disk is mounted read-only",
  [ERRNO.ENAMETOOLONG]: "the path is too long",
  [ERRNO.ELOOP]: "its links go in a circle",
  [ERRNO.EDQUOT]: "the disk quota is used up",
};

type ErrorClass = new (message?: string, options?: ErrorOptions) => Error;

const CLASSES: Readonly<Record<number, ErrorClass>> = {
  [ERRNO.EPERM]: Deno.errors.PermissionDenied,
  [ERRNO.ENOENT]: Deno.errors.NotFound,
  [ERRNO.EACCES]: Deno.errors.PermissionDenied,
  [ERRNO.EBUSY]: Deno.errors.Busy,
  [ERRNO.ENOTDIR]: Deno.errors.NotADirectory,
  [ERRNO.EISDIR]: Deno.errors.IsADirectory,
  [ERRNO.ELOOP]: Deno.errors.FilesystemLoop,
};

const PLAIN_CLASSES: ReadonlySet<ErrorClass> = new Set([Error, RangeError, TypeError]);

const LAST = new Int32Array(1);

let isReady = false;

/** Opens the C library with errno bound before any call, since binding it would change errno. */
export function openSystem(): HostApi {
  const host = openHost();
  if (!isReady) lastErrno();
  isReady = true;
  return host;
}

/** Returns errno of this thread's last call of {@link openSystem}, right after that call. */
export function lastErrno(): number {
  const { copyOut, errnoLocation } = openHost();
  copyOut(LAST, errnoLocation(), 4n);
  return LAST[0] ?? 0;
}

/**
 * Makes a call of the C library again for as long as signals interrupt it, and returns its result: below
 * 0 when it failed, with the reason in errno.
 */
export function uninterrupted<T extends number | bigint>(call: () => T): T {
  for (;;) {
    const result = call();
    if (result >= 0 || lastErrno() !== ERRNO.EINTR) return result;
  }
}

/** Returns the words for an errno. */
export function systemReason(errno: number): string {
  return REASONS[errno] ?? `the system reports error ${errno}`;
}

/** Creates the error for a failure of the C library; `doing` are the words after "Cannot". */
export function systemError(doing: string, errno: number): Error {
  const ErrorOf = CLASSES[errno] ?? Error;
  return new ErrorOf(visibleText(`Cannot ${doing}: ${systemReason(errno)}`));
}

/**
 * Returns the same kind of error with another message. Only built-in classes and Deno's can be made
 * from a message alone: an error of another class is returned as it is, and so is any other value.
 */
export function reworded(error: unknown, message: string): unknown {
  if (!(error instanceof Error)) return error;
  const Kind = error.constructor as ErrorClass;
  const isPlain = PLAIN_CLASSES.has(Kind) || Object.values(Deno.errors).includes(Kind as never);
  return isPlain ? new Kind(visibleText(message), { cause: error }) : error;
}

/**
 * Lets Deno open or create a file, which checks that the program may, and closes it.
 *
 * @throws Error of Deno's class, in the words of {@link systemError} where the system refuses it.
 */
export function openByDeno(path: string, options: Deno.OpenOptions): void {
  try {
    Deno.openSync(path, options).close();
  } catch (error) {
    const reason = knownReason(error);
    throw reason === undefined ? error : reworded(error, `Cannot open ${path}: ${reason}`);
  }
}

/** Returns why a call about a file failed, in words: the system's reason, else the error's message. */
export function reasonOf(error: unknown): string {
  return knownReason(error) ?? messageOf(error);
}

function knownReason(error: unknown): string | undefined {
  const [, errno = ""] = /\(os error (\d+)\)/.exec(messageOf(error)) ?? [];
  return REASONS[Number(errno)];
}
