// Arrays of an archive on the GPU, by name.

import type { DeviceBuffer } from "../../buffers/device_buffer.ts";
import type { DType } from "../../dtype.ts";
import { NumpyError } from "../../numpy/npy_header.ts";
import { formatBytes, formatCount, visibleText } from "../../words/format.ts";
import { comesFrom, type Parts, partsOf } from "../../words/parts.ts";
import { refuseCloning } from "../../words/uncloneable.ts";
import { areDisposed, findByName, type LoadedWords, requireType } from "../loaded_contents.ts";

const ARCHIVE_WORDS: LoadedWords = { whole: "archive", noun: "array" };

/** An archive's contents by name: an array on the GPU, or the error of one not loaded. */
export type NpzContents = ReadonlyMap<string, DeviceBuffer | NumpyError>;

/**
 * Arrays of an archive on the GPU, by name. Disposing it frees all of them. Arrays of types that the
 * kit lacks, such as texts and dates, are named but not loaded.
 */
export class NpzArrays
  implements Disposable, AsyncDisposable, Iterable<[name: string, array: DeviceBuffer]> {
  readonly #contents: NpzContents;
  #disposed = false;

  /** @ignore Adopts arrays. */
  constructor(parts: Parts<NpzContents>) {
    this.#contents = partsOf(parts, new.target);
    refuseCloning(this);
  }

  /** Tells whether it was disposed, or its memory was. */
  get disposed(): boolean {
    return this.#disposed || areDisposed([...this].map(([, array]) => array));
  }

  /** All names, in the order of the archive. */
  get names(): readonly string[] {
    return [...this.#contents.keys()];
  }

  /** Number of names. */
  get size(): number {
    return this.#contents.size;
  }

  /** Returns whether there is an array of that name, loaded or not. */
  has(name: string): boolean {
    return this.#contents.has(name);
  }

  /** The names that were not loaded: {@link NpzArrays.array} throws for them and says why. */
  get unreadable(): readonly string[] {
    return this.names.filter((name) => this.#contents.get(name) instanceof NumpyError);
  }

  /**
   * Returns an array by its name.
   *
   * @throws NumpyError when its elements have no type here, or it is no array.
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the arrays were disposed.
   */
  array(name: string): DeviceBuffer;
  /**
   * Returns an array by its name, and checks its element type.
   *
   * @throws TypeError when it has another element type.
   * @throws NumpyError when its elements have no type here, or it is no array.
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the arrays were disposed.
   */
  array<D extends DType>(name: string, dtype: D): DeviceBuffer<D>;
  array(name: string, dtype?: DType): DeviceBuffer {
    const found = findByName(this, this.#contents, name, ARCHIVE_WORDS);
    if (found instanceof NumpyError) throw found;
    requireType(ARCHIVE_WORDS, name, { found: found.dtype, wanted: dtype });
    return found;
  }

  /** Iterates over the names and arrays that were loaded. */
  *[Symbol.iterator](): IterableIterator<[name: string, array: DeviceBuffer]> {
    for (const [name, found] of this.#contents) {
      if (!(found instanceof NumpyError)) yield [name, found];
    }
  }

  /** Disposes all arrays. */
  dispose(): void {
    this.#disposed = true;
    for (const [, array] of this) array.dispose();
  }

  /** Same as {@link NpzArrays.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Same as {@link NpzArrays.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
    return Promise.resolve();
  }

  /** Returns the name for messages: `NpzArrays(3 arrays, 2 GiB)`. */
  toString(): string {
    const arrays = [...this];
    const byteLength = arrays.reduce((sum, [, array]) => sum + array.byteLength, 0);
    return `NpzArrays(${formatCount(arrays.length, "array")}, ${formatBytes(byteLength)})`;
  }

  /** Returns the name for JSON. */
  toJSON(): string {
    return this.toString();
  }

  /** Returns the text that the console shows: the arrays by name. */
  [Symbol.for("Deno.customInspect")](): string {
    const texts = [...this.#contents].map(([name, found]) =>
      `${visibleText(name)}: ${found instanceof NumpyError ? "unreadable" : found}`
    );
    return `NpzArrays(${texts.join(", ")})${this.disposed ? " disposed" : ""}`;
  }
}

comesFrom(NpzArrays, "loadNpz()");
