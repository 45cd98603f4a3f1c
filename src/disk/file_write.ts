// The steps of writing a file: begun, filled, and then committed or undone. No step waits for the
// event loop, so that a blocking call can take them all.

import { visibleText } from "../words/format.ts";
import type { DiskFile } from "./disk_file.ts";
import type { FileFacts } from "./file_facts.ts";
import type { LockedFile } from "./locked_file.ts";

export interface WrittenPlace {
  /** Path as the program gave it, for messages. */
  readonly path: string;
  /** Path with links followed. */
  readonly realPath: string;
}

export abstract class FileWrite {
  /** Path of the file that is locked, and receives the bytes. */
  readonly lockedPath: string;
  protected readonly place: WrittenPlace;
  /** The file that receives the bytes, from the beginning until it is complete or undone. */
  protected opened: LockedFile | undefined;
  /** The folder, open until a new name is on the disk, if that was requested. */
  protected folder: DiskFile | undefined;
  /** Files to close once the write is complete. */
  protected readonly leaving: (LockedFile | DiskFile)[] = [];
  readonly #sync: boolean;

  /** With `sync` the write is complete only when it is on the disk. */
  constructor(
    place: WrittenPlace,
    { sync, lockedPath = place.realPath }: { readonly sync: boolean; readonly lockedPath?: string },
  ) {
    this.place = place;
    this.lockedPath = lockedPath;
    this.#sync = sync;
  }

  /** File that receives the bytes, once the write has begun. */
  get file(): DiskFile {
    if (this.opened !== undefined) return this.opened.file;
    throw new Error(`Cannot write ${visibleText(this.place.path)}: it is not open`);
  }

  /**
   * Opens and locks the files, and allocates room for the bytes; returns false while another
   * process writes the same file.
   *
   * @throws Error when it can never begin; everything stays as it was.
   */
  tryBegin(): boolean {
    this.opened = this.open();
    if (this.opened === undefined) return false;
    try {
      this.prepare(this.opened);
    } catch (error) {
      this.abandon();
      throw error;
    }
    return true;
  }

  /** Opens and locks the file; returns undefined while another process writes it. */
  protected abstract open(): LockedFile | undefined;

  /** Opens the folder if that is to be on the disk, too, and allocates room. */
  protected abstract prepare(opened: LockedFile): void;

  /** Undoes the write, unless it was committed; nothing may write into the file any more. */
  abstract abandon(): void;

  /** Does what comes before the bytes are brought to the disk. */
  protected beforeFlush(): void {}

  /** Makes the file the new one, unless that was done. */
  protected abstract settle(): void;

  /** Commits: from now on the file is the new one. Waits for the disk if that was requested. */
  async commit(): Promise<void> {
    this.beforeFlush();
    if (this.#sync) await this.opened?.file.flush();
    this.settle();
    try {
      if (this.folder !== undefined) await this.folder.flush();
    } finally {
      this.closeFolder();
      // All begin at once: a call that blocks may wait for the lock that one of them lets go.
      await Promise.all(this.leaving.splice(0).map((file) => file.close()));
    }
  }

  /** Commits the write and blocks meanwhile; also when a {@link FileWrite.commit} is under way. */
  commitSync(): void {
    this.beforeFlush();
    if (this.#sync) this.opened?.file.flushSync();
    this.settle();
    using end = new DisposableStack();
    for (const file of this.leaving.splice(0).reverse()) end.use(file);
    end.defer(() => this.closeFolder());
    this.folder?.flushSync();
  }

  protected closeFolder(): void {
    this.folder?.[Symbol.dispose]();
    this.folder = undefined;
  }
}

/** Rejects a file without random access, such as a pipe. */
export function checkWritable(path: string, { kind }: FileFacts): void {
  if (kind === "file" || kind === "device") return;
  throw new TypeError(
    `Cannot write ${visibleText(path)}: it is a ${kind}, expected a regular file`,
  );
}
