// A loaded GGUF model: tensors by name, in one block of device memory for each file, freed together.

import type { DeviceBuffer } from "../../buffers/device_buffer.ts";
import type { DType } from "../../dtype.ts";
import { formatBytes, formatCount } from "../../words/format.ts";
import { comesFrom, Parts, partsOf } from "../../words/parts.ts";
import { LoadedTensors } from "../loaded_contents.ts";
import type { GgufFormat } from "./formats.ts";
import type { GgufTensor } from "./header.ts";
import type { GgufValue } from "./header_scanner.ts";

/** A tensor on the device, and its description in the file. */
export type LoadedGgufTensor = readonly [entry: GgufTensor, buffer: DeviceBuffer];

/** The parts of a {@link GgufModel}. */
export interface GgufFields {
  /** The memory, one block for each file. */
  readonly blocks: readonly DeviceBuffer[];
  readonly tensors: readonly LoadedGgufTensor[];
  readonly metadata: GgufModel["metadata"];
}

/**
 * A GGUF model on the device, as `loadGguf()` returns it: tensors by name. Quantized tensors are bytes,
 * `uint8`: the last axis has the blocks of a row, one after another, as the file has them.
 */
export class GgufModel extends LoadedTensors<DeviceBuffer, GgufFormat> {
  /** Metadata of the first file by name, such as `general.architecture`. */
  readonly metadata: Readonly<Record<string, GgufValue>>;
  /** Bytes of device memory it holds. */
  readonly byteLength: number;
  readonly #entries: ReadonlyMap<string, GgufTensor>;

  /** @ignore Adopts memory and the views of it. */
  constructor(parts: Parts<GgufFields>) {
    const { metadata, blocks, tensors } = partsOf(parts, new.target);
    const named = tensors.map(([{ name, format }, tensor]) => [name, { tensor, format }] as const);
    super(new Parts({ memory: blocks, tensors: named }));
    this.metadata = metadata;
    this.byteLength = blocks.reduce((sum, block) => sum + block.byteLength, 0);
    this.#entries = new Map(tensors.map(([entry]) => [entry.name, entry]));
  }

  /**
   * Returns the tensor with a name: its elements, or the bytes of its blocks.
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

  /**
   * Returns a tensor as its file describes it: its shape in elements, and the size of its blocks.
   *
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the model was disposed.
   */
  entry(name: string): GgufTensor {
    this.found(name); // or says that there is none
    return this.#entries.get(name) as GgufTensor;
  }

  /** Returns the model's name for messages: `GgufModel(300 tensors, 2 GiB)`. */
  override toString(): string {
    return `GgufModel(${formatCount(this.size, "tensor")}, ${formatBytes(this.byteLength)})`;
  }
}

comesFrom(GgufModel, "loadGguf()");
