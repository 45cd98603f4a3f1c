// A loaded GGUF model: tensors by name, in one block of device memory for each file, freed together.

import type { DeviceBuffer } from "../../buffers/device_buffer.ts";
import { comesFrom } from "../../words/parts.ts";
import { DeviceModel, type NamedFormat } from "../loaded_contents.ts";
import type { GgufFormat } from "./formats.ts";
import type { GgufTensor } from "./header.ts";
import type { GgufValue } from "./header_scanner.ts";

/**
 * A GGUF model on the device, as `loadGguf()` returns it: tensors by name. Quantized tensors are bytes,
 * `uint8`: the last axis has the blocks of a row, one after another, as the file has them.
 */
export class GgufModel extends DeviceModel<
  GgufFormat,
  Readonly<Record<string, GgufValue>>,
  NamedFormat<DeviceBuffer, GgufFormat> & { readonly entry: GgufTensor }
> {
  /**
   * Returns a tensor as its file describes it: its shape in elements, and the size of its blocks.
   *
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the model was disposed.
   */
  entry(name: string): GgufTensor {
    return this.find(name).entry;
  }
}

comesFrom(GgufModel, "loadGguf()");
