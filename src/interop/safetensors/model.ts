// A loaded model: tensors by name, in one block of device memory a file, given back together.

import type { DeviceBuffer } from "../../buffers/device_buffer.ts";
import type { DType } from "../../dtype.ts";
import { DisposedError } from "../../errors.ts";
import { formatBytes, formatCount, visibleText } from "../../format.ts";
import type { SafetensorsFormat } from "./formats.ts";

/** One tensor of a loaded model. */
export interface LoadedTensor {
  /** Shows it in the model's memory. */
  readonly buffer: DeviceBuffer;
  /** Its element type, by the format's own name; 8-bit floats are uint8 in the buffer. */
  readonly format: SafetensorsFormat;
}

/** What a {@link SafetensorsModel} holds. */
export interface ModelFields {
  /** The memory, one block a file. */
  readonly blocks: readonly DeviceBuffer[];
  /** The tensors by name. */
  readonly tensors: ReadonlyMap<string, LoadedTensor>;
  /** Texts about the model as a whole. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** The tensors of a model on the device. Each is a view; disposing the model frees them all. */
export class SafetensorsModel
  implements Disposable, AsyncDisposable, Iterable<[name: string, tensor: DeviceBuffer]> {
  /** Texts about the model as a whole. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Bytes of device memory it holds. */
  readonly byteLength: number;
  readonly #blocks: readonly DeviceBuffer[];
  readonly #tensors: ReadonlyMap<string, LoadedTensor>;
  #disposed = false;

  /** Adopts memory and the views of it. */
  constructor(fields: ModelFields) {
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

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#disposed;
  }

  /** Whether there is a tensor of that name. */
  has(name: string): boolean {
    return this.#tensors.has(name);
  }

  /** Finds a tensor by its name. */
  tensor(name: string): DeviceBuffer;
  /** Finds a tensor by its name, and checks its element type. */
  tensor<D extends DType>(name: string, dtype: D): DeviceBuffer<D>;
  tensor(name: string, dtype?: DType): DeviceBuffer {
    const { buffer } = this.#find(name);
    if (dtype !== undefined && buffer.dtype !== dtype) {
      throw new TypeError(`Cannot use tensor "${name}" as ${dtype}: it is ${buffer.dtype}`);
    }
    return buffer;
  }

  /** Tells a tensor's element type by the format's own name, such as `"F8_E4M3"`. */
  format(name: string): SafetensorsFormat {
    return this.#find(name).format;
  }

  /** Walks names and tensors, in the order of the files. */
  *[Symbol.iterator](): Iterator<[name: string, tensor: DeviceBuffer]> {
    for (const [name, { buffer }] of this.#tensors) yield [name, buffer];
  }

  /** Gives all memory back; every tensor of it is disposed with it. */
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

  /** Describes the model: `SafetensorsModel(300 tensors, 2 GiB)`. */
  toString(): string {
    return `SafetensorsModel(${formatCount(this.size, "tensor")}, ${formatBytes(this.byteLength)})`;
  }

  /** Shows the model on a console. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this}${this.disposed ? " disposed" : ""}`;
  }

  #find(name: string): LoadedTensor {
    if (this.#disposed) throw new DisposedError(this.toString());
    const found = this.#tensors.get(name);
    if (found !== undefined) return found;
    const some = this.names.slice(0, 3).map((known) => `"${visibleText(known)}"`).join(", ");
    throw new RangeError(
      `Cannot find tensor "${visibleText(`${name}`)}": the model has ${this.size}` +
        (this.size === 0 ? "" : `, such as ${some}`),
    );
  }
}
