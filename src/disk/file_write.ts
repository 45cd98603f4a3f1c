// The steps of writing a file: begun, filled, and then committed or undone. No step waits for the
// event loop, so that a blocking call can take them all.

import type { DiskFile } from "./disk_file.ts";
import type { FileFacts } from "./file_facts.ts";
import { visibleText } from "../words/format.ts";

/** One write of a file. */
export interface FileWrite {
  /** File that receives the bytes, once the write has begun. */
  readonly file: DiskFile;
  /**
   * Opens and locks the files, and allocates room for the bytes; returns false while another
   * process writes the same file.
   *
   * @throws Error when it can never begin; everything stays as it was.
   */
  tryBegin(): boolean;
  /** Commits: from now on the file is the new one. Waits for the disk if that was requested. */
  commit(): Promise<void>;
  /** Commits the write and blocks meanwhile; also when a {@link FileWrite.commit} is under way. */
  commitSync(): void;
  /** Undoes the write, unless it was committed; nothing may write into the file any more. */
  abandon(): void;
}

/** The file that is written. */
export interface WrittenPlace {
  /** Path as the program gave it, for messages. */
  readonly path: string;
  /** Path with links followed. */
  readonly realPath: string;
}

/** Rejects a file without random access, such as a pipe. */
export function checkWritable(path: string, { kind }: FileFacts): void {
  if (kind === "file" || kind === "device") return;
  throw new TypeError(
    `Cannot write ${visibleText(path)}: it is a ${kind}, expected a regular file`,
  );
}
