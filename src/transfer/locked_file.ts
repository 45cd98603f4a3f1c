// A file that is open for writing and locked, so that other processes leave it alone until it is
// closed. Deno's own handle holds the lock, so that it is let go also when a worker is terminated.

import { messageOf } from "../format.ts";
import { DiskFile } from "./disk_file.ts";
import { factsAt, factsOf, type FileFacts } from "./file_facts.ts";

/** So often a file may be replaced by others while it is opened, before that counts as being busy. */
const TRY_COUNT = 100;

/** How to open a file. */
export interface LockedFileOptions {
  /** Refuses what is there, by throwing, before it is opened: opening a pipe would wait. */
  readonly check: (facts: FileFacts) => void;
  /** Permissions of a file that is made, less those that the process masks. */
  readonly mode?: number;
}

/** Names what was opened. */
interface OpenParts {
  readonly file: DiskFile;
  readonly facts: FileFacts;
  readonly isNew: boolean;
  readonly lock: Deno.FsFile;
}

/** A file that this process alone writes, as far as others ask for the lock. */
export class LockedFile implements Disposable {
  /** The open file. */
  readonly file: DiskFile;
  /** What the system knew of it when it was opened. */
  readonly facts: FileFacts;
  /** Whether it was made when it was opened. */
  readonly isNew: boolean;
  #lock: Deno.FsFile | undefined;

  /** Adopts what {@link LockedFile.tryOpen} opened. */
  private constructor({ file, facts, isNew, lock }: OpenParts) {
    this.file = file;
    this.facts = facts;
    this.isNew = isNew;
    this.#lock = lock;
  }

  /**
   * Opens a file, or makes it; undefined while somebody else holds its lock. The path has no links.
   *
   * @throws Error as Deno does, and what `check` throws.
   */
  static tryOpen(path: string, { check, mode }: LockedFileOptions): LockedFile | undefined {
    for (let tries = 0; tries < TRY_COUNT; tries++) {
      const before = factsAt(path);
      if (before !== undefined) check(before);
      using opened = new DisposableStack();
      const lock = openByDeno(path, before === undefined ? { createNew: true, mode } : {});
      if (lock === undefined) continue;
      opened.use(lock);
      const file = opened.use(new DiskFile(path, "write"));
      const facts = factsOf(file.descriptor, path);
      const isLocked = tryLock(lock);
      const isSame = factsAt(path)?.identity === facts.identity &&
        (before === undefined || before.identity === facts.identity);
      if (!isSame) continue;
      if (!isLocked) return undefined;
      opened.move();
      return new LockedFile({ file, facts, isNew: before === undefined, lock });
    }
    return undefined;
  }

  /** Whether its path still leads to it: nobody has replaced, moved or removed it. */
  get isInPlace(): boolean {
    return factsAt(this.file.path)?.identity === this.facts.identity;
  }

  /** Removes it, unless its path leads to another file by now. */
  remove(): void {
    if (this.isInPlace) Deno.removeSync(this.file.path);
  }

  /** The same, and only warns when it fails: for what comes after an error of its own. */
  tryRemove(): void {
    try {
      this.remove();
    } catch (error) {
      console.warn(`vramkit: ${this.file.path} is left: ${messageOf(error)}`);
    }
  }

  /** Closes it and lets the lock go. A second time does nothing. */
  [Symbol.dispose](): void {
    this.file[Symbol.dispose]();
    this.#unlock();
  }

  /** The same, on another thread where freeing or writing a large file takes a while. */
  async close(): Promise<void> {
    this.#unlock();
    await this.file.close();
  }

  #unlock(): void {
    this.#lock?.close();
    this.#lock = undefined;
  }
}

/** Opens a file as Deno permits it; undefined when somebody made or removed it just now. */
function openByDeno(
  path: string,
  creation: { readonly createNew?: boolean; readonly mode?: number | undefined },
): Deno.FsFile | undefined {
  const { createNew = false, mode = 0o666 } = creation;
  try {
    return Deno.openSync(path, createNew ? { write: true, createNew, mode } : { write: true });
  } catch (error) {
    const isGone = error instanceof Deno.errors.NotFound && !createNew;
    if (isGone || error instanceof Deno.errors.AlreadyExists) return undefined;
    throw error;
  }
}

/** False while somebody else has the lock. File systems that know no locks have none to wait for. */
function tryLock(file: Deno.FsFile): boolean {
  try {
    return file.tryLockSync(true);
  } catch {
    return true;
  }
}
