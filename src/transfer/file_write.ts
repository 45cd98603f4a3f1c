// How one write of a file goes: begun, filled, and then made true or taken back. No step waits for
// the event loop, so that a blocking call can take them all.

import type { DiskFile } from "./disk_file.ts";
import type { FileFacts } from "./file_facts.ts";

/** One write of a file. */
export interface FileWrite {
  /** Where the bytes go, once it has begun. */
  readonly file: DiskFile;
  /**
   * Opens and locks what it needs, and finds room for the bytes; false while another process writes
   * the same file.
   *
   * @throws Error, and leaves everything as it was, when it can never begin.
   */
  tryBegin(): boolean;
  /** Makes it true: from now on the file is the new one. Waits for the disk when that was asked for. */
  commit(): Promise<void>;
  /** The same, and blocks meanwhile; also when a {@link FileWrite.commit} is under way. */
  commitSync(): void;
  /** Takes it back, unless it was committed; nothing may write into the file any more. */
  abandon(): void;
}

/** Which file is written. */
export interface WrittenPlace {
  /** Where it lies, as the program says, for messages. */
  readonly path: string;
  /** Where it lies when links are followed. */
  readonly realPath: string;
}

/** Refuses what has no bytes at places of choice. */
export function checkWritable(path: string, { kind }: FileFacts): void {
  if (kind === "file" || kind === "device") return;
  throw new TypeError(`Cannot write ${path}: it is a ${kind}, expected a regular file`);
}
