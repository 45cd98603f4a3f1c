// Writes bytes into an existing or new file, at an offset or over its whole contents. After a
// failure the file has its former size; overwritten bytes are lost.

import { messageOf, visibleText } from "../words/format.ts";
import { warn } from "../words/warning.ts";
import { DiskFile } from "./disk_file.ts";
import { factsOf, type FileFacts } from "./file_facts.ts";
import { folderOf, requireAccess } from "./file_path.ts";
import { checkWritable, FileWrite, type WrittenPlace } from "./file_write.ts";
import { LockedFile } from "./locked_file.ts";

/** Options for changing a file: the bytes that are written. */
export interface ChangeOptions {
  /** Offset in the file; undefined when the bytes become the whole contents. */
  readonly fileOffset: number | undefined;
  readonly byteLength: number;
  /** The program accepts that others see the bytes as they are written. */
  readonly inPlace: boolean;
  /** The write is complete only when it is on the disk. */
  readonly sync: boolean;
}

/** A write into a file itself. */
export class FileChange extends FileWrite {
  readonly #options: ChangeOptions;
  /** The file's size before. */
  #byteLength = 0;
  /** Bytes of a whole file were cut off or may have been written over. */
  #isTouched = false;

  constructor(place: WrittenPlace, options: ChangeOptions) {
    super(place, options);
    this.#options = options;
  }

  protected override open(): LockedFile | undefined {
    const { path, realPath } = this.place;
    requireAccess(realPath, "write");
    return LockedFile.tryOpen(realPath, { check: (facts) => this.#check(facts), shownAs: path });
  }

  protected override prepare({ isNew, facts: { kind } }: LockedFile): void {
    const { realPath } = this.place;
    if (this.#options.sync && isNew) this.folder = new DiskFile(folderOf(realPath), "read");
    if (kind === "file") this.#makeRoom();
  }

  protected override settle(): void {
    if (this.opened !== undefined) this.leaving.push(this.opened);
    this.opened = undefined;
  }

  override abandon(): void {
    using opened = this.opened;
    this.opened = undefined;
    this.closeFolder();
    if (opened?.facts.kind !== "file") return;
    if (opened.isNew) opened.tryRemove();
    else this.#restoreSize(opened.file);
  }

  /** Offset of the end of the bytes. */
  get #end(): number {
    return (this.#options.fileOffset ?? 0) + this.#options.byteLength;
  }

  #check(facts: FileFacts): void {
    const { path } = this.place;
    checkWritable(path, facts);
    if (facts.kind === "file" || this.#options.inPlace) return;
    throw new TypeError(
      `Cannot write ${visibleText(path)}: it is a device; pass { inPlace: true } to write to it`,
    );
  }

  /** Allocates room first: when there is none, nothing is lost yet. */
  #makeRoom(): void {
    const { file } = this;
    const { fileOffset, byteLength } = this.#options;
    this.#byteLength = factsOf(file.descriptor, file.path).byteLength;
    file.reserve(fileOffset ?? 0, byteLength);
    if (fileOffset !== undefined) return; // these bytes are not the whole contents
    this.#isTouched = true;
    // Not by way of 0: ext4 would then wait for the disk when the file is closed.
    file.resize(this.#end);
  }

  /** Leaves a half-written whole file empty, so that it is not taken for a complete one. */
  #restoreSize(file: DiskFile): void {
    try {
      if (this.#isTouched) return file.resize(0);
      const { byteLength } = factsOf(file.descriptor, file.path);
      const isOurs = byteLength <= this.#end; // more was written by others
      if (byteLength > this.#byteLength && isOurs) file.resize(this.#byteLength);
    } catch (error) {
      warn(`${visibleText(file.path)} could not be cut to its former size: ${messageOf(error)}`);
    }
  }
}
