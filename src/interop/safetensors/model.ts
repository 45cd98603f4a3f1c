// A loaded model: tensors by name, in one block of device memory for each file, freed together.

import type { DeviceBuffer } from "../../buffers/device_buffer.ts";
import type { Shape } from "../../buffers/shape.ts";
import type { DType } from "../../dtype.ts";
import { formatBytes, formatCount } from "../../words/format.ts";
import { comesFrom, type Parts, partsOf } from "../../words/parts.ts";
import { LoadedContents, type LoadedWords } from "../loaded_contents.ts";
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
export class SafetensorsModel extends LoadedContents<LoadedTensor, DeviceBuffer> {
  /** Metadata: strings about the model as a whole. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Bytes of device memory it holds. */
  readonly byteLength: number;
  readonly #blocks: readonly DeviceBuffer[];
  readonly #tensors: ReadonlyMap<string, LoadedTensor>;

  /** @ignore Adopts memory and the views of it. */
  constructor(parts: Parts<ModelFields>) {
    const { metadata, blocks, tensors } = partsOf(parts, new.target);
    super(tensors, MODEL_WORDS);
    this.metadata = metadata;
    this.#blocks = blocks;
    this.#tensors = tensors;
    this.byteLength = blocks.reduce((sum, block) => sum + block.byteLength, 0);
  }

  /**
   * Returns the tensor with a name; with `dtype` it checks the element type.
   *
   * @throws TypeError when it has another element type.
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the model was disposed.
   */
  tensor<D extends DType = DType>(name: string, dtype?: D): DeviceBuffer<NoInfer<D>> {
    const { buffer } = this.find(name);
    return this.checked(name, buffer, dtype) as DeviceBuffer<D>;
  }

  /**
   * Returns a tensor's element type by the format's own name, such as `"F8_E4M3"`.
   *
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the model was disposed.
   */
  format(name: string): SafetensorsFormat {
    return this.find(name).format;
  }

  /** Iterates over names and tensors, in the order of the files. */
  *[Symbol.iterator](): IterableIterator<[name: string, tensor: DeviceBuffer]> {
    for (const [name, { buffer }] of this.#tensors) yield [name, buffer];
  }

  /** Returns the model's name for messages: `SafetensorsModel(300 tensors, 2 GiB)`. */
  override toString(): string {
    return `SafetensorsModel(${formatCount(this.size, "tensor")}, ${formatBytes(this.byteLength)})`;
  }

  /** @ignore Lists the blocks. */
  protected memory(): readonly DeviceBuffer[] {
    return this.#blocks;
  }
}

comesFrom(SafetensorsModel, "gpu.loadSafetensors()");
