// Reads the header of a GGUF file from its first byte to its last, through a window: the header does not
// tell its own length. Every length in it is compared with the file and the limit before it is believed.

import type { OpenedFile } from "../../disk/file_reading.ts";
import type { HostArray } from "../../dtype.ts";
import { Pauses } from "../../order/waiting.ts";
import { FileError } from "../../words/file_error.ts";

/** Bytes that are read at a time. */
const WINDOW_BYTES = 256 * 2 ** 10;

/** The arrays that hold numbers of a file, by GGUF's numbers for the types of values. */
const ARRAYS = {
  0: Uint8Array,
  1: Int8Array,
  2: Uint16Array,
  3: Int16Array,
  4: Uint32Array,
  5: Int32Array,
  6: Float32Array,
  10: BigUint64Array,
  11: BigInt64Array,
  12: Float64Array,
} as const;
const BOOL = 7;
const STRING = 8;
const ARRAY = 9;

/** Bytes of a string's length, and of an array's element type and length. */
const LENGTH_BYTES = 8;
const ARRAY_START_BYTES = 12;

/** Arrays in arrays are read to this depth. */
const MAX_DEPTH = 4;

/**
 * A value of a file's metadata. Whole numbers of 64 bits are bigints where a number could not hold them;
 * arrays of numbers, and of booleans as 0 and 1, are typed arrays.
 */
export type GgufValue = number | bigint | boolean | string | HostArray | readonly GgufValue[];

/** A GGUF file breaks the format, or is of a kind that is not read. `path` names it. */
export class GgufError extends FileError {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "GgufError";
}

/** A place in a header. */
export class HeaderScanner {
  readonly #opened: OpenedFile;
  readonly #maxBytes: number;
  readonly #pauses: Pauses;
  #window = new Uint8Array(0);
  #view = new DataView(this.#window.buffer);
  /** Place in the window, and the window's place in the file. */
  #at = 0;
  #start = 0;

  /** Begins at the first byte. */
  constructor(opened: OpenedFile, maxBytes: number, signal?: AbortSignal) {
    this.#opened = opened;
    this.#maxBytes = maxBytes;
    this.#pauses = new Pauses(signal);
  }

  /** Offset in the file of the next byte. */
  get offset(): number {
    return this.#start + this.#at;
  }

  /** Returns a copy of the next bytes, which stay the next ones. */
  async ahead(count: number): Promise<Uint8Array<ArrayBuffer>> {
    await this.#require(count);
    return this.#window.slice(this.#at, this.#at + count);
  }

  async uint32(): Promise<number> {
    await this.#require(4);
    return this.#view.getUint32((this.#at += 4) - 4, true);
  }

  /**
   * Reads a size or an offset.
   *
   * @throws GgufError when the file cannot have it.
   */
  async size(): Promise<number> {
    await this.#require(LENGTH_BYTES);
    const size = this.#view.getBigUint64((this.#at += LENGTH_BYTES) - LENGTH_BYTES, true);
    if (size <= Number.MAX_SAFE_INTEGER) return Number(size);
    throw this.wrong(`it has the size ${size} at ${this.offset - LENGTH_BYTES}`);
  }

  /** Reads how many entries follow, each of which takes at least `entryBytes`. */
  async count(noun: string, entryBytes: number): Promise<number> {
    const count = await this.size();
    const leftBytes = this.#opened.byteLength - this.offset;
    if (count * entryBytes <= leftBytes) return count;
    throw this.wrong(`it claims ${count} ${noun}, and has ${leftBytes} bytes left`);
  }

  /** Reads a string; a name has to be UTF-8, and other bytes elsewhere become U+FFFD. */
  async text(isName: boolean): Promise<string> {
    const length = await this.count("bytes of a text", 1);
    await this.#require(length);
    try {
      return this.#decoded(length, isName ? STRICT : LENIENT);
    } catch (cause) {
      throw this.wrong(`it has a name at ${this.offset - length} that is not UTF-8`, { cause });
    }
  }

  /** Reads a value of the metadata. */
  async value(type: number, depth = 0): Promise<GgufValue> {
    if (type === STRING) return await this.text(false);
    if (type === ARRAY) return await this.#array(depth + 1);
    if (type === BOOL) return (await this.#booleans(1))[0] === 1;
    const [value = 0] = await this.#numbers(type, 1);
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }

  /** Creates an error for the file. */
  wrong(reason: string, options?: ErrorOptions): GgufError {
    return new GgufError(this.#opened.file.path, reason, options);
  }

  async #array(depth: number): Promise<GgufValue> {
    if (depth > MAX_DEPTH) throw this.wrong(`it has arrays in arrays deeper than ${MAX_DEPTH}`);
    const type = await this.uint32();
    if (type === BOOL) return await this.#booleans(await this.count("booleans", 1));
    if (type !== STRING && type !== ARRAY) {
      return await this.#numbers(type, await this.count("numbers", 1));
    }
    const least = type === STRING ? LENGTH_BYTES : ARRAY_START_BYTES;
    const values: GgufValue[] = [];
    for (let left = await this.count("values", least); left > 0; left--) {
      const text = type === STRING ? this.#textAtHand() : undefined;
      values.push(text ?? await this.value(type, depth));
    }
    return values;
  }

  /** Returns the next text if the window has it: a vocabulary is hundreds of thousands of them. */
  #textAtHand(): string | undefined {
    const leftBytes = this.#window.byteLength - this.#at - LENGTH_BYTES;
    if (leftBytes < 0) return undefined;
    const length = this.#view.getUint32(this.#at, true);
    if (length > leftBytes || this.#view.getUint32(this.#at + 4, true) > 0) return undefined;
    this.#at += LENGTH_BYTES;
    return this.#decoded(length, LENIENT);
  }

  #decoded(length: number, decoder: TextDecoder): string {
    return decoder.decode(this.#window.subarray(this.#at, this.#at += length));
  }

  async #booleans(count: number): Promise<Uint8Array<ArrayBuffer>> {
    const booleans = await this.#bytes(count);
    const wrong = booleans.find((byte) => byte > 1);
    if (wrong === undefined) return booleans;
    throw this.wrong(`it has a boolean that is ${wrong}`);
  }

  async #numbers(type: number, count: number): Promise<HostArray> {
    if (!Object.hasOwn(ARRAYS, type)) {
      throw this.wrong(`it has a value of the unknown type ${type}`);
    }
    const { [type as keyof typeof ARRAYS]: NumberArray } = ARRAYS;
    return new NumberArray((await this.#bytes(count * NumberArray.BYTES_PER_ELEMENT)).buffer);
  }

  async #bytes(count: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await this.ahead(count);
    this.#at += count;
    return bytes;
  }

  /**
   * Reads on until the window has the next `count` bytes.
   *
   * @throws GgufError when the file ends before, or the header is larger than the limit.
   */
  async #require(count: number): Promise<void> {
    const left = this.#window.subarray(this.#at);
    if (left.byteLength >= count) return;
    await this.#pauses.whenDue();
    const { file, byteLength } = this.#opened;
    const { offset } = this;
    if (offset + count > byteLength) throw this.wrong("it ends within its header");
    if (offset + count > this.#maxBytes) {
      throw this.wrong(
        `its header has more than the ${this.#maxBytes} bytes allowed; pass { maxHeaderSize } if ` +
          "it is right",
      );
    }
    const end = Math.min(byteLength, this.#maxBytes);
    const wanted = Math.min(Math.max(count, WINDOW_BYTES), end - offset);
    const window = new Uint8Array(wanted);
    window.set(left);
    await file.read(window.subarray(left.byteLength), offset + left.byteLength);
    [this.#window, this.#at, this.#start] = [window, 0, offset];
    this.#view = new DataView(window.buffer);
  }
}

const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const LENIENT = new TextDecoder("utf-8", { ignoreBOM: true });
