// The contents of files that were loaded, by name, freed together.

import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import type { DType } from "../dtype.ts";
import { DisposedError } from "../words/errors.ts";
import { describeValue, formatBytes, formatCount, visibleText } from "../words/format.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
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

/** The words of messages about models. */
const MODEL_WORDS: LoadedWords = { whole: "model", noun: "tensor" };

/** A tensor, and its element type by the name of the file's format. */
export interface NamedFormat<T, F> {
  /** The tensor. */
  readonly tensor: T;
  /** The format's own name. */
  readonly format: F;
}

/** The parts of {@link LoadedTensors}. */
export interface LoadedFields<T, F> {
  /** The memory that the tensors are views of. */
  readonly memory: readonly DeviceBuffer[];
  /** The tensors by name, in the order of the files. */
  readonly tensors: Iterable<readonly [name: string, tensor: NamedFormat<T, F>]>;
}

/**
 * Tensors of a loaded model, by name. They are views of the model's memory, and disposing the model
 * frees them all.
 */
export abstract class LoadedTensors<T extends { readonly dtype: DType }, F extends string>
  implements Disposable, AsyncDisposable, Iterable<[name: string, tensor: T]> {
  readonly #memory: readonly DeviceBuffer[];
  readonly #tensors: ReadonlyMap<string, NamedFormat<T, F>>;
  #disposed = false;

  /** @ignore Adopts memory and the views of it. */
  constructor(parts: Parts<LoadedFields<T, F>>) {
    const { memory, tensors } = partsOf(parts, new.target);
    refuseCloning(this);
    this.#memory = memory;
    this.#tensors = new Map(tensors);
  }

  /** The names, in the order of the files. */
  get names(): string[] {
    return [...this.#tensors.keys()];
  }

  /** Number of tensors. */
  get size(): number {
    return this.#tensors.size;
  }

  /** Whether it was disposed, or its memory was. */
  get disposed(): boolean {
    return this.#disposed || areDisposed(this.#memory);
  }

  /** Returns whether there is a tensor of that name. */
  has(name: string): boolean {
    return this.#tensors.has(name);
  }

  /**
   * Returns a tensor's element type by the format's own name, such as `"F8_E4M3"`.
   *
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the model was disposed.
   */
  format(name: string): F {
    return findByName(this, this.#tensors, name, MODEL_WORDS).format;
  }

  /** Iterates over names and tensors, in the order of the files. */
  *[Symbol.iterator](): Iterator<[name: string, tensor: T]> {
    for (const [name, { tensor }] of this.#tensors) yield [name, tensor];
  }

  /** Frees the memory and disposes every tensor. A second call does nothing. */
  dispose(): void {
    this.#disposed = true;
    for (const block of this.#memory) block.dispose();
  }

  /** Same as {@link LoadedTensors.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Same as {@link LoadedTensors.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
    return Promise.resolve();
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this}${this.disposed ? " disposed" : ""}`;
  }

  /** Finds a tensor, and checks its element type when one is wanted. */
  protected found(name: string, wanted?: DType): T {
    const { tensor } = findByName(this, this.#tensors, name, MODEL_WORDS);
    requireType(MODEL_WORDS, name, { found: tensor.dtype, wanted });
    return tensor;
  }
}

/** The parts of a {@link DeviceModel}. */
export interface ModelParts<F, M> extends LoadedFields<DeviceBuffer, F> {
  readonly metadata: M;
}

/** A model on one device: tensors by name, which are views of the model's memory. */
export abstract class DeviceModel<F extends string, M> extends LoadedTensors<DeviceBuffer, F> {
  /** Metadata: facts about the model as a whole. */
  readonly metadata: M;
  /** Bytes of device memory it holds. */
  readonly byteLength: number;

  /** @ignore Adopts memory and the views of it. */
  constructor(parts: Parts<ModelParts<F, M>>) {
    const { memory, metadata, tensors } = partsOf(parts, new.target);
    super(new Parts({ memory, tensors }));
    this.metadata = metadata;
    this.byteLength = memory.reduce((sum, block) => sum + block.byteLength, 0);
  }

  /**
   * Returns the tensor with a name.
   *
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the model was disposed.
   */
  tensor(name: string): DeviceBuffer;
  /**
   * Returns the tensor with a name, and checks its element type.
   *
   * @throws TypeError when it has another element type.
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the model was disposed.
   */
  tensor<D extends DType>(name: string, dtype: D): DeviceBuffer<D>;
  tensor(name: string, dtype?: DType): DeviceBuffer {
    return this.found(name, dtype);
  }

  /** Returns the model's name for messages: `SafetensorsModel(300 tensors, 2 GiB)`. */
  override toString(): string {
    const size = `${formatCount(this.size, "tensor")}, ${formatBytes(this.byteLength)}`;
    return `${this.constructor.name}(${size})`;
  }
}

comesFrom(LoadedTensors, "gpu.loadSafetensors(), gpus.loadSafetensors() and loadGguf()");

/** Returns whether all memory was disposed; what has none is there until it is disposed itself. */
export function areDisposed(blocks: readonly { readonly disposed: boolean }[]): boolean {
  return blocks.length > 0 && blocks.every((block) => block.disposed);
}

/**
 * Finds one of the contents by its name.
 *
 * @throws DisposedError when the whole was disposed.
 * @throws RangeError when there is none of that name; the message names some.
 */
export function findByName<T>(
  owner: { readonly disposed: boolean; toString(): string },
  contents: ReadonlyMap<string, T>,
  name: string,
  { whole, noun }: LoadedWords,
): T {
  if (owner.disposed) throw new DisposedError(owner.toString());
  const found = contents.get(name);
  if (found !== undefined) return found;
  const some = contents.keys().take(SOME_NAMES).map(quoted).toArray().join(", ");
  throw new RangeError(
    `Cannot find ${noun} ${quoted(name)}: the ${whole} has ${contents.size}` +
      (some === "" ? "" : `, such as ${some}`),
  );
}

/**
 * Checks the element type of one of the contents.
 *
 * @throws TypeError when it is another than is asked for.
 */
export function requireType(
  { noun }: LoadedWords,
  name: string,
  { found, wanted }: { readonly found: DType; readonly wanted: DType | undefined },
): void {
  if (wanted === undefined || found === wanted) return;
  throw new TypeError(`Cannot use ${noun} ${quoted(name)} as ${wanted}: it is ${found}`);
}

/** Names are shown whole, however long: their ends tell them apart. */
function quoted(name: unknown): string {
  return typeof name === "string" ? `"${visibleText(name)}"` : describeValue(name);
}
