// The contents of files that were loaded, by name, freed together.

import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import type { DType } from "../dtype.ts";
import { DisposedError } from "../words/errors.ts";
import { describeValue, formatBytes, formatCount, visibleText } from "../words/format.ts";
import { Owned } from "../words/owned.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { refuseCloning } from "../words/uncloneable.ts";

/** Number of names that the error about an unknown one lists. */
const SOME_NAMES = 3;

/** The words of messages about something loaded. */
interface LoadedWords {
  readonly whole: "archive" | "model";
  readonly noun: "array" | "tensor";
}

/** Something loaded: values by name, in memory that is freed together. */
export abstract class LoadedContents<T, V> extends Owned
  implements Iterable<[name: string, value: V]> {
  /** @ignore All contents by name. */
  protected readonly contents: ReadonlyMap<string, T>;
  readonly #words: LoadedWords;
  #disposed = false;

  /** @ignore Adopts values. */
  constructor(contents: ReadonlyMap<string, T>, words: LoadedWords) {
    super();
    this.contents = contents;
    this.#words = words;
    refuseCloning(this);
  }

  /** All names, in the order of the file. */
  get names(): string[] {
    return [...this.contents.keys()];
  }

  /** Number of names. */
  get size(): number {
    return this.contents.size;
  }

  /** Tells whether it was disposed, or its memory was. */
  get disposed(): boolean {
    const memory = this.#disposed ? [] : this.memory();
    return this.#disposed || (memory.length > 0 && memory.every(({ disposed }) => disposed));
  }

  /** Returns whether there is something of that name. */
  has(name: string): boolean {
    return this.contents.has(name);
  }

  /** Frees the memory and disposes all values. A second call does nothing. */
  dispose(): void {
    this.#disposed = true;
    for (const part of this.memory()) part.dispose();
  }

  /** Iterates over names and values, in the order of the file. */
  abstract [Symbol.iterator](): IterableIterator<[name: string, value: V]>;

  /** @ignore Lists all that is to be disposed. */
  protected abstract memory(): readonly Pick<Owned, "disposed" | "dispose">[];

  /**
   * @ignore Finds one of the contents by its name.
   *
   * @throws DisposedError when the whole was disposed.
   * @throws RangeError when there is none of that name; the message names some.
   */
  protected find(name: string): T {
    if (this.disposed) throw new DisposedError(this.toString());
    const found = this.contents.get(name);
    if (found !== undefined) return found;
    const some = this.contents.keys().take(SOME_NAMES).map(quoted).toArray().join(", ");
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

/** A tensor, and its element type by the name of the file's format. */
export interface NamedFormat<T, F> {
  /** The tensor. */
  readonly tensor: T;
  /** The format's own name. */
  readonly format: F;
}

/** The parts of {@link LoadedTensors}. */
interface LoadedFields<E> {
  /** The memory that the tensors are views of. */
  readonly memory: readonly DeviceBuffer[];
  /** The tensors by name, in the order of the files. */
  readonly tensors: Iterable<readonly [name: string, tensor: E]>;
}

/**
 * Tensors of a loaded model, by name. They are views of the model's memory, and disposing the model
 * frees them all.
 */
export abstract class LoadedTensors<
  T extends { readonly dtype: DType },
  F extends string,
  E extends NamedFormat<T, F> = NamedFormat<T, F>,
> extends LoadedContents<E, T> {
  readonly #memory: readonly DeviceBuffer[];

  /** @ignore Adopts memory and the views of it. */
  constructor(parts: Parts<LoadedFields<E>>) {
    const { memory, tensors } = partsOf(parts, new.target);
    super(new Map(tensors), { whole: "model", noun: "tensor" });
    this.#memory = memory;
  }

  /**
   * Returns a tensor's element type by the format's own name, such as `"F8_E4M3"`.
   *
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the model was disposed.
   */
  format(name: string): F {
    return this.find(name).format;
  }

  /** Iterates over names and tensors, in the order of the files. */
  *[Symbol.iterator](): IterableIterator<[name: string, tensor: T]> {
    for (const [name, { tensor }] of this.contents) yield [name, tensor];
  }

  /** @ignore Finds a tensor, and checks its element type when one is wanted. */
  protected found(name: string, wanted?: DType): T {
    return this.checked(name, this.find(name).tensor, wanted);
  }

  /** @ignore Lists the blocks. */
  protected memory(): readonly Pick<Owned, "disposed" | "dispose">[] {
    return this.#memory;
  }
}

/** A model on one device: tensors by name, which are views of the model's memory. */
export abstract class DeviceModel<
  F extends string,
  M,
  E extends NamedFormat<DeviceBuffer, F> = NamedFormat<DeviceBuffer, F>,
> extends LoadedTensors<DeviceBuffer, F, E> {
  /** Metadata: facts about the model as a whole. */
  readonly metadata: M;
  /** Bytes of device memory it holds. */
  readonly byteLength: number;

  /** @ignore Adopts memory and the views of it. */
  constructor(parts: Parts<LoadedFields<E> & { readonly metadata: M }>) {
    const { memory, metadata, tensors } = partsOf(parts, new.target);
    super(new Parts({ memory, tensors }));
    this.metadata = metadata;
    this.byteLength = memory.reduce((sum, block) => sum + block.byteLength, 0);
  }

  /**
   * Returns the tensor with a name; with `dtype` it checks the element type.
   *
   * @throws TypeError when it has another element type.
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the model was disposed.
   */
  tensor<D extends DType = DType>(name: string, dtype?: D): DeviceBuffer<NoInfer<D>> {
    return this.found(name, dtype) as DeviceBuffer<D>;
  }

  /** Returns the model's name for messages: `SafetensorsModel(300 tensors, 2 GiB)`. */
  override toString(): string {
    const size = `${formatCount(this.size, "tensor")}, ${formatBytes(this.byteLength)}`;
    return `${this.constructor.name}(${size})`;
  }
}

comesFrom(LoadedTensors, "gpu.loadSafetensors(), gpus.loadSafetensors() and loadGguf()");

/** Names are shown whole, however long: their ends tell them apart. */
function quoted(name: unknown): string {
  return typeof name === "string" ? `"${visibleText(name)}"` : describeValue(name);
}
