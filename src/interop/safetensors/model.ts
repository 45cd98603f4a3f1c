// A loaded model: tensors by name, in one block of device memory for each file, freed together.

import type { DeviceBuffer } from "../../buffers/device_buffer.ts";
import type { Shape } from "../../buffers/shape.ts";
import type { DType } from "../../dtype.ts";
import { formatBytes, formatCount } from "../../words/format.ts";
import { comesFrom, type Parts, partsOf } from "../../words/parts.ts";
import { refuseCloning } from "../../words/uncloneable.ts";
import { areDisposed, findByName, type LoadedWords, requireType } from "../loaded_contents.ts";
import type { SafetensorsFormat } from "./formats.ts";

/** A tensor as its file describes it. */
export interface TensorFormat {
  /** Element type, by the format's own name. */
  readonly format: SafetensorsFormat;
  readonly shape: Shape;
}

const loaded = new WeakMap<object, TensorFormat>();

/** Notes the format of a loaded tensor, so that it is saved as it came. */
export function noteFormat(buffer: object, format: TensorFormat): void {
  loaded.set(buffer, format);
}

/** Returns the format of a tensor of a loaded model; undefined for every other buffer. */
export function loadedFormat(buffer: object): TensorFormat | undefined {
  return loaded.get(buffer);
}

/** The words of messages about models. */
export const MODEL_WORDS: LoadedWords = { whole: "model", noun: "tensor" };

/** One tensor of a loaded model. */
export interface LoadedTensor {
  /** View of the tensor in the model's memory. */
  readonly buffer: DeviceBuffer;
  /** Element type, by the format's own name. */
  readonly format: SafetensorsFormat;
}

/** The parts of a {@link SafetensorsModel}. */
export interface ModelFields {
  /** The memory, one block for each file. */
  readonly blocks: readonly DeviceBuffer[];
  readonly tensors: ReadonlyMap<string, LoadedTensor>;
  /** Metadata: strings about the model as a whole. */
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * A model on the device, as {@link CudaDevice.loadSafetensors} returns it: tensors by name. Each
 * tensor is a view of the model's memory; disposing the model frees them all.
 */
export class SafetensorsModel
  implements Disposable, AsyncDisposable, Iterable<[name: string, tensor: DeviceBuffer]> {
  /** Metadata: strings about the model as a whole. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Bytes of device memory it holds. */
  readonly byteLength: number;
  readonly #blocks: readonly DeviceBuffer[];
  readonly #tensors: ReadonlyMap<string, LoadedTensor>;
  #disposed = false;

  /** @ignore Adopts memory and the views of it. */
  constructor(parts: Parts<ModelFields>) {
    const fields = partsOf(parts, new.target);
    refuseCloning(this);
    this.metadata = fields.metadata;
    this.#blocks = fields.blocks;
    this.#tensors = fields.tensors;
    this.byteLength = fields.blocks.reduce((sum, block) => sum + block.byteLength, 0);
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
    return this.#disposed || areDisposed(this.#blocks);
  }

  /** Returns whether there is a tensor of that name. */
  has(name: string): boolean {
    return this.#tensors.has(name);
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
    const { buffer } = this.#find(name);
    requireType(MODEL_WORDS, name, { found: buffer.dtype, wanted: dtype });
    return buffer;
  }

  /**
   * Returns a tensor's element type by the format's own name, such as `"F8_E4M3"`.
   *
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the model was disposed.
   */
  format(name: string): SafetensorsFormat {
    return this.#find(name).format;
  }

  /** Iterates over names and tensors, in the order of the files. */
  *[Symbol.iterator](): Iterator<[name: string, tensor: DeviceBuffer]> {
    for (const [name, { buffer }] of this.#tensors) yield [name, buffer];
  }

  /** Frees the memory and disposes every tensor. A second call does nothing. */
  dispose(): void {
    this.#disposed = true;
    for (const block of this.#blocks) block.dispose();
  }

  /** Same as {@link SafetensorsModel.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Same as {@link SafetensorsModel.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
    return Promise.resolve();
  }

  /** Returns the model's name for messages: `SafetensorsModel(300 tensors, 2 GiB)`. */
  toString(): string {
    return `SafetensorsModel(${formatCount(this.size, "tensor")}, ${formatBytes(this.byteLength)})`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this}${this.disposed ? " disposed" : ""}`;
  }

  #find(name: string): LoadedTensor {
    return findByName(this, this.#tensors, name, MODEL_WORDS);
  }
}

comesFrom(SafetensorsModel, "gpu.loadSafetensors()");
