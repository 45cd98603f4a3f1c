// A loaded model over several devices: tensors by name, each in parts or whole on every device.

import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import type { DType } from "../dtype.ts";
import { areDisposed, findByName, requireType } from "../interop/loaded_contents.ts";
import type { SafetensorsFormat } from "../interop/safetensors/formats.ts";
import { MODEL_WORDS } from "../interop/safetensors/model.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { comesFrom, type Parts, partsOf } from "../words/parts.ts";
import { refuseCloning } from "../words/uncloneable.ts";
import type { DeviceParts } from "./device_parts.ts";

/** One tensor of a loaded model. */
export interface ShardedTensor {
  /** Its buffers, views of the model's memory on each device. */
  readonly parts: DeviceParts;
  /** Element type, by the format's own name. */
  readonly format: SafetensorsFormat;
}

/** The parts of a {@link ShardedModel}. */
export interface ShardedFields {
  /** The memory, by device: one block for each file. */
  readonly blocks: readonly (readonly DeviceBuffer[])[];
  readonly tensors: ReadonlyMap<string, ShardedTensor>;
  /** Metadata: strings about the model as a whole. */
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * A model over several devices, as {@link DeviceList.loadSafetensors} returns it: tensors by name,
 * each of which has a buffer on every device. Disposing the model frees them all.
 */
export class ShardedModel
  implements Disposable, AsyncDisposable, Iterable<[name: string, parts: DeviceParts]> {
  /** Metadata: strings about the model as a whole. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Bytes of memory on each device. */
  readonly deviceBytes: readonly number[];
  readonly #blocks: readonly (readonly DeviceBuffer[])[];
  readonly #tensors: ReadonlyMap<string, ShardedTensor>;
  #disposed = false;

  /** @ignore Adopts memory and the views of it. */
  constructor(parts: Parts<ShardedFields>) {
    const { metadata, blocks, tensors } = partsOf(parts, new.target);
    refuseCloning(this);
    this.metadata = metadata;
    this.#blocks = blocks;
    this.#tensors = tensors;
    this.deviceBytes = blocks.map((own) => own.reduce((sum, block) => sum + block.byteLength, 0));
  }

  /** The names, in the order of the files. */
  get names(): string[] {
    return [...this.#tensors.keys()];
  }

  /** Number of tensors. */
  get size(): number {
    return this.#tensors.size;
  }

  /** Bytes of memory on all devices together. */
  get byteLength(): number {
    return this.deviceBytes.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Whether it was disposed, or its memory was. */
  get disposed(): boolean {
    return this.#disposed || areDisposed(this.#blocks.flat());
  }

  /** Returns whether there is a tensor of that name. */
  has(name: string): boolean {
    return this.#tensors.has(name);
  }

  /**
   * Returns the tensor with a name; `download()` gathers it.
   *
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the model was disposed.
   */
  tensor(name: string): DeviceParts;
  /**
   * Returns the tensor with a name, and checks its element type.
   *
   * @throws TypeError when it has another element type.
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the model was disposed.
   */
  tensor<D extends DType>(name: string, dtype: D): DeviceParts<D>;
  tensor(name: string, dtype?: DType): DeviceParts {
    const { parts } = this.#find(name);
    requireType(MODEL_WORDS, name, { found: parts.dtype, wanted: dtype });
    return parts;
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
  *[Symbol.iterator](): Iterator<[name: string, parts: DeviceParts]> {
    for (const [name, { parts }] of this.#tensors) yield [name, parts];
  }

  /** Frees the memory and disposes every tensor. A second call does nothing. */
  dispose(): void {
    this.#disposed = true;
    for (const { parts } of this.#tensors.values()) parts.dispose();
    for (const block of this.#blocks.flat()) block.dispose();
  }

  /** Same as {@link ShardedModel.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Same as {@link ShardedModel.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
    return Promise.resolve();
  }

  /** Returns the model's name for messages: `ShardedModel(300 tensors, 2 GiB on 2 devices)`. */
  toString(): string {
    const devices = formatCount(this.deviceBytes.length, "device");
    return `ShardedModel(${formatCount(this.size, "tensor")}, ${formatBytes(this.byteLength)} ` +
      `on ${devices})`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this}${this.disposed ? " disposed" : ""}`;
  }

  #find(name: string): ShardedTensor {
    return findByName(this, this.#tensors, name, MODEL_WORDS);
  }
}

comesFrom(ShardedModel, "gpus.loadSafetensors()");
