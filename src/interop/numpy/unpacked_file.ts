// The contents of a file in an archive, read from the first byte to the last in pieces: whatever the
// archive says, no more of them than a piece is in the host's memory.

import type { InflateRaw } from "node:zlib";
import type { DiskFile } from "../../disk/disk_file.ts";
import { NumpyError } from "../../numpy/npy_header.ts";
import type { ZipEntry } from "../../numpy/zip_directory.ts";
import type { Pauses } from "../../order/waiting.ts";
import { builtin } from "../../words/builtin.ts";
import { readPiece, readWhole } from "./read_piece.ts";

/** Packed bytes that are read at a time. */
const PACKED_BYTES = 64 * 2 ** 10;

/** Bytes that are unpacked at a time: less than a millisecond's work. */
const UNPACKED_BYTES = 256 * 2 ** 10;

/** Contents of up to so many bytes are read at once, because each way to read a part costs more. */
const MAX_SMALL_BYTES = 256 * 2 ** 10;

/** Bytes that are read at a time only for their checksum. */
const CHECKED_BYTES = 256 * 2 ** 10;

/** A reading of one file of an archive. */
export class UnpackedFile implements Disposable {
  readonly #file: DiskFile;
  readonly #entry: ZipEntry;
  readonly #pauses: Pauses;
  readonly #inflating: Inflating | undefined;
  /** The contents, where they are small; read when they are first asked for. */
  #whole: Uint8Array | undefined;
  #doneBytes = 0;
  #crc = 0;

  /** Starts at the first byte. */
  constructor(file: DiskFile, entry: ZipEntry, pauses: Pauses) {
    this.#file = file;
    this.#entry = entry;
    this.#pauses = pauses;
    const isStreamed = entry.isDeflated && !this.#isSmall;
    this.#inflating = isStreamed ? new Inflating(file, entry) : undefined;
  }

  get leftBytes(): number {
    return this.#entry.byteLength - this.#doneBytes;
  }

  /**
   * Fills an array with the next bytes, at most as many as are left.
   *
   * @throws NumpyError when there are fewer, or they cannot be unpacked.
   */
  async read(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#pauses.whenDue();
    const start = this.#doneBytes;
    if (this.#inflating !== undefined) await this.#unpackInto(bytes, this.#inflating);
    else if (this.#isSmall) {
      const whole = this.#whole ??= this.#readWhole();
      bytes.set(whole.subarray(start, start + bytes.byteLength));
    } else await readPiece(this.#file, bytes, this.#entry.contentOffset + start);
    this.#doneBytes += bytes.byteLength;
    this.#crc = builtin("node:zlib").crc32(bytes, this.#crc);
  }

  /**
   * Reads the rest, and checks that the contents are whole.
   *
   * @throws NumpyError when the size or the checksum is not that of the directory.
   */
  async finish(): Promise<void> {
    const { name, crc } = this.#entry;
    if (this.leftBytes > 0) {
      const rest = new Uint8Array(Math.min(CHECKED_BYTES, this.leftBytes));
      while (this.leftBytes > 0) await this.read(rest.subarray(0, this.leftBytes));
    }
    if (this.#inflating !== undefined && await this.#next(this.#inflating) !== undefined) {
      throw this.#hasOtherSize();
    }
    if (this.#crc === crc) return;
    throw new NumpyError(this.#file.path, `the checksum of "${name}" is wrong`);
  }

  /** Ends the reading. */
  [Symbol.dispose](): void {
    this.#inflating?.[Symbol.dispose]();
  }

  get #isSmall(): boolean {
    const { byteLength, packedBytes } = this.#entry;
    return byteLength <= MAX_SMALL_BYTES && packedBytes <= 2 * MAX_SMALL_BYTES;
  }

  #readWhole(): Uint8Array {
    const { isDeflated, packedBytes, contentOffset, byteLength } = this.#entry;
    const packed = readWhole(this.#file, new Uint8Array(packedBytes), contentOffset);
    if (!isDeflated) return packed;
    const whole = this.#unpackAll(packed);
    if (whole.byteLength !== byteLength) throw this.#hasOtherSize();
    return whole;
  }

  #unpackAll(packed: Uint8Array<ArrayBuffer>): Uint8Array {
    try {
      return builtin("node:zlib").inflateRawSync(packed, {
        maxOutputLength: this.#entry.byteLength + 1,
      });
    } catch (cause) {
      const isTooLong = Object(cause).code === "ERR_BUFFER_TOO_LARGE";
      throw isTooLong ? this.#hasOtherSize() : this.#cannotBeUnpacked(cause);
    }
  }

  async #unpackInto(bytes: Uint8Array<ArrayBuffer>, inflating: Inflating): Promise<void> {
    for (let end = 0; end < bytes.byteLength;) {
      const chunk = await this.#next(inflating, bytes.byteLength - end);
      if (chunk === undefined) throw this.#hasOtherSize();
      bytes.set(chunk, end);
      end += chunk.byteLength;
      await this.#pauses.whenDue();
    }
  }

  async #next(inflating: Inflating, maxBytes = 1): Promise<Uint8Array | undefined> {
    try {
      return await inflating.next(maxBytes);
    } catch (cause) {
      if (cause instanceof NumpyError) throw cause; // the file was cut off
      throw this.#cannotBeUnpacked(cause);
    }
  }

  #cannotBeUnpacked(cause: unknown): NumpyError {
    return new NumpyError(this.#file.path, `"${this.#entry.name}" cannot be unpacked`, { cause });
  }

  #hasOtherSize(): NumpyError {
    const words = `"${this.#entry.name}" has another size than its directory says`;
    return new NumpyError(this.#file.path, words);
  }
}

/** A file that is inflated as far as its contents are asked for. */
class Inflating implements Disposable {
  readonly #inflate: InflateRaw;
  readonly #chunks: AsyncIterator<Uint8Array<ArrayBuffer>>;
  /** Unpacked bytes, of which some were asked for. */
  #chunk = new Uint8Array(0);
  #takenBytes = 0;

  constructor(file: DiskFile, entry: ZipEntry) {
    this.#inflate = builtin("node:zlib").createInflateRaw({ chunkSize: UNPACKED_BYTES });
    this.#inflate.on("error", () => {}); // the chunks end with it, also when nobody waits for one
    this.#chunks = this.#inflate[Symbol.asyncIterator]();
    // The chunks end with the error that it rejects with.
    this.#feed(file, entry).catch((error) => this.#inflate.destroy(error));
  }

  /** Returns the next bytes, at most so many, until the next call; undefined at the end. */
  async next(maxBytes: number): Promise<Uint8Array | undefined> {
    while (this.#takenBytes === this.#chunk.byteLength) {
      this.#freeChunk();
      const { value, done } = await this.#chunks.next();
      if (done === true) return undefined;
      this.#chunk = value;
      this.#takenBytes = 0;
    }
    const chunk = this.#chunk.subarray(this.#takenBytes, this.#takenBytes + maxBytes);
    this.#takenBytes += chunk.byteLength;
    return chunk;
  }

  [Symbol.dispose](): void {
    this.#inflate.destroy();
  }

  /** Frees a chunk's memory now: the garbage collector would let a hundred MiB of it gather. */
  #freeChunk(): void {
    const { buffer, byteLength } = this.#chunk;
    this.#chunk = new Uint8Array(0);
    this.#takenBytes = 0;
    if (byteLength === buffer.byteLength) buffer.transfer(0); // else the inflater goes on using it
  }

  /** Gives it the packed bytes, as fast as it takes them. */
  async #feed(file: DiskFile, { contentOffset, packedBytes }: ZipEntry): Promise<void> {
    const bytes = new Uint8Array(Math.min(PACKED_BYTES, packedBytes));
    for (let at = 0; at < packedBytes; at += PACKED_BYTES) {
      const packed = bytes.subarray(0, packedBytes - at);
      await readPiece(file, packed, contentOffset + at);
      if (this.#inflate.destroyed) return;
      await this.#taken(packed);
    }
    this.#inflate.end();
  }

  #taken(packed: Uint8Array): Promise<void> {
    return new Promise((resolve) => void this.#inflate.write(packed, () => resolve()));
  }
}
