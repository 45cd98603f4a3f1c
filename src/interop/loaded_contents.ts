// The contents of a file that was loaded, by name, freed together.

import type { DType } from "../dtype.ts";
import { DisposedError } from "../words/errors.ts";
import { describeValue, visibleText } from "../words/format.ts";
import { Owned } from "../words/owned.ts";
import { refuseCloning } from "../words/uncloneable.ts";

/** Number of names that the error about an unknown one lists. */
const SOME_NAMES = 3;

/** The words of messages about something loaded. */
export interface LoadedWords {
  /** For all of it. */
  readonly whole: "archive" | "model";
  /** For one of its contents. */
  readonly noun: "array" | "tensor";
}

/** Memory of something loaded. */
type Memory = Pick<Owned, "disposed" | "dispose">;

/** Something loaded: values by name, in memory that is freed together. */
export abstract class LoadedContents<T, V> extends Owned
  implements Iterable<[name: string, value: V]> {
  readonly #contents: ReadonlyMap<string, T>;
  readonly #words: LoadedWords;
  #disposed = false;

  /** @ignore Adopts values. */
  constructor(contents: ReadonlyMap<string, T>, words: LoadedWords) {
    super();
    this.#contents = contents;
    this.#words = words;
    refuseCloning(this);
  }

  /** All names, in the order of the file. */
  get names(): string[] {
    return [...this.#contents.keys()];
  }

  /** Number of names. */
  get size(): number {
    return this.#contents.size;
  }

  /** Whether it was disposed, or its memory was. */
  get disposed(): boolean {
    const memory = this.#disposed ? [] : this.memory();
    return this.#disposed || (memory.length > 0 && memory.every(({ disposed }) => disposed));
  }

  /** Returns whether there is something of that name. */
  has(name: string): boolean {
    return this.#contents.has(name);
  }

  /** Frees the memory and disposes all values. A second call does nothing. */
  dispose(): void {
    this.#disposed = true;
    for (const part of this.memory()) part.dispose();
  }

  /** Iterates over names and values, in the order of the file. */
  abstract [Symbol.iterator](): IterableIterator<[name: string, value: V]>;

  /** @ignore Lists all that is to be disposed. */
  protected abstract memory(): readonly Memory[];

  /**
   * @ignore Finds one of the contents by its name.
   *
   * @throws DisposedError when the whole was disposed.
   * @throws RangeError when there is none of that name; the message names some.
   */
  protected find(name: string): T {
    if (this.disposed) throw new DisposedError(this.toString());
    const found = this.#contents.get(name);
    if (found !== undefined) return found;
    const some = this.#contents.keys().take(SOME_NAMES).map(quoted).toArray().join(", ");
    const { whole, noun } = this.#words;
    throw new RangeError(
      `Cannot find ${noun} ${quoted(name)}: the ${whole} has ${this.size}` +
        (some === "" ? "" : `, such as ${some}`),
    );
  }

  /**
   * @ignore Returns one of the contents after checking its element type.
   *
   * @throws TypeError when it is another than is asked for.
   */
  protected checked<B extends { readonly dtype: DType }>(
    name: string,
    found: B,
    wanted: DType | undefined,
  ): B {
    if (wanted === undefined || found.dtype === wanted) return found;
    const { noun } = this.#words;
    throw new TypeError(`Cannot use ${noun} ${quoted(name)} as ${wanted}: it is ${found.dtype}`);
  }
}

/** Names are shown whole, however long: their ends tell them apart. */
function quoted(name: unknown): string {
  return typeof name === "string" ? `"${visibleText(name)}"` : describeValue(name);
}
