// A file that is open for writing and locked, so that other processes leave it alone until it is
// closed. Whoever replaces, moves or removes a file holds its lock, so what is locked and still has
// its name stays where it is.

import { ERRNO, LOCK } from "../../ffi/host.ts";
import { messageOf, visibleText } from "../words/format.ts";
import { warn } from "../words/warning.ts";
import { DiskFile } from "./disk_file.ts";
import { factsAt, factsOf, type FileFacts } from "./file_facts.ts";
import { lastErrno, openByDeno, openSystem, uninterrupted } from "./system_error.ts";

/** Number of times that others may replace a file while it is opened. */
const TRY_COUNT = 100;

interface LockedFileOptions {
  /** Throws to reject an existing file before it is opened, because opening a pipe would wait. */
  readonly check: (facts: FileFacts) => void;
  /** Permissions of a file that is made, less those that the process masks. */
  readonly mode?: number | undefined;
  /** Name in messages; the path by default. */
  readonly shownAs?: string | undefined;
}

/** Files whose locks are held. */
const locked = new Set<LockedFile>();

/**
 * Lets all locks go at the end of the program. Its process may go on: `deno run --watch` starts the
 * program anew there, which would wait for its own locks for ever.
 */
function letLocksGo(): void {
  for (const { file } of locked) openSystem().flock(file.descriptor, LOCK.UN);
}

/** A file that this process alone writes, as far as others ask for the lock. */
export class LockedFile implements Disposable {
  readonly file: DiskFile;
  /** Facts about the file when it was opened. */
  readonly facts: FileFacts;
  /** It was made when it was opened. */
  readonly isNew: boolean;
  readonly #path: string;

  private constructor(
    path: string,
    { file, facts, isNew }: Pick<LockedFile, "file" | "facts" | "isNew">,
  ) {
    this.#path = path;
    this.file = file;
    this.facts = facts;
    this.isNew = isNew;
    if (locked.size === 0) globalThis.addEventListener("unload", letLocksGo);
    locked.add(this);
  }

  /**
   * Opens or creates a file; returns undefined while another process holds its lock. The path has
   * no links.
   *
   * @throws Error as Deno does, and what `check` throws.
   */
  static tryOpen(path: string, options: LockedFileOptions): LockedFile | undefined {
    const { check, mode = 0o666, shownAs = path } = options;
    let raced: unknown;
    for (let tries = 0; tries < TRY_COUNT; tries++) {
      const before = factsAt(path);
      if (before !== undefined) check(before);
      using opened = new DisposableStack();
      let isMade = false;
      try {
        const isThere = before !== undefined;
        openByDeno(path, isThere ? { write: true } : { write: true, createNew: true, mode });
        isMade = !isThere;
        const file = opened.use(new DiskFile(path, "write", { shownAs }));
        const isLocked = tryLock(file.descriptor);
        const facts = factsOf(file.descriptor, path);
        if (factsAt(path)?.identity !== facts.identity) continue;
        check(facts);
        if (!isLocked) return undefined;
        opened.move();
        const isNew = before === undefined && facts.byteLength === 0;
        return new LockedFile(path, { file, facts, isNew });
      } catch (error) {
        if (!isRace(error)) {
          if (isMade) removeOrWarn(path); // the write cannot begin; the error to tell is another one
          throw error;
        }
        raced = error;
      }
    }
    throw raced ?? new Error(`Cannot write ${shownAs}: other programs keep replacing it`);
  }

  /** Tells whether this program itself locks the file at a path until threads come back. */
  static isInUse(path: string): boolean {
    const identity = factsAt(path)?.identity;
    return locked.values().some(({ file, facts }) => file.isInUse && facts.identity === identity);
  }

  /** Tells whether its path still leads to it: it was not replaced, moved or removed. */
  get isInPlace(): boolean {
    return factsAt(this.#path)?.identity === this.facts.identity;
  }

  /** Removes it, unless its path leads to another file by now. */
  remove(): void {
    if (this.isInPlace) Deno.removeSync(this.#path);
  }

  /** Removes it and only warns on failure, for use after another error. */
  tryRemove(): void {
    removeOrWarn(this.#path, () => this.remove());
  }

  /** Closes it, which lets the lock go. A second time does nothing. */
  [Symbol.dispose](): void {
    this.#forget();
    this.file[Symbol.dispose]();
  }

  /** Closes it, on another thread when freeing or writing a large file takes a while. */
  async close(): Promise<void> {
    this.#forget();
    await this.file.close();
  }

  #forget(): void {
    this.file.whenUnused(() => {
      locked.delete(this);
      if (locked.size === 0) globalThis.removeEventListener("unload", letLocksGo);
    });
  }
}

/** Removes a file, and only warns when that fails. */
export function removeOrWarn(
  path: string,
  remove: () => unknown = () => Deno.removeSync(path),
): void {
  try {
    remove();
  } catch (error) {
    warn(`${visibleText(path)} is left: ${messageOf(error)}`);
  }
}

/** Returns whether another program has just made or removed the file, whose folder was there. */
function isRace(error: unknown): boolean {
  return error instanceof Deno.errors.AlreadyExists || error instanceof Deno.errors.NotFound;
}

/** Errors of file systems without locks, on which there is nothing to wait for. */
const KNOWS_NO_LOCKS: ReadonlySet<number> = new Set([
  ERRNO.ENOLCK,
  ERRNO.ENOSYS,
  ERRNO.EOPNOTSUPP,
]);

/** Takes the lock; returns false while another process has it. */
function tryLock(descriptor: number): boolean {
  const { flock } = openSystem();
  const status = uninterrupted(() => flock(descriptor, LOCK.EX | LOCK.NB));
  return status === 0 || KNOWS_NO_LOCKS.has(lastErrno());
}
