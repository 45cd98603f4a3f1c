// A loaded GGUF model: tensors by name, in one block of device memory for each file, freed together.

import type { DeviceBuffer } from "../../buffers/device_buffer.ts";
import { comesFrom, Parts, partsOf } from "../../words/parts.ts";
import { DeviceModel } from "../loaded_contents.ts";
import type { GgufFormat } from "./formats.ts";
import type { GgufTensor } from "./header.ts";
import type { GgufValue } from "./header_scanner.ts";

/**
 * A GGUF model on the device, as `loadGguf()` returns it: tensors by name. Quantized tensors are bytes,
 * `uint8`: the last axis has the blocks of a row, one after another, as the file has them.
 */
export class GgufModel extends DeviceModel<GgufFormat, Readonly<Record<string, GgufValue>>> {
  readonly #entries: ReadonlyMap<string, GgufTensor>;

  /** @ignore Adopts memory and the views of it. */
  constructor(
    parts: Parts<{
      /** The memory, one block for each file. */
      readonly memory: readonly DeviceBuffer[];
      readonly views: readonly (readonly [entry: GgufTensor, tensor: DeviceBuffer])[];
      readonly metadata: GgufModel["metadata"];
    }>,
  ) {
    const { metadata, memory, views } = partsOf(parts, new.target);
    const tensors = views.map(([{ name, format }, tensor]) => [name, { tensor, format }] as const);
    super(new Parts({ memory, metadata, tensors }));
    this.#entries = new Map(views.map(([entry]) => [entry.name, entry]));
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
}

comesFrom(GgufModel, "loadGguf()");
