// Tensors of safetensors files on their way to the device, and the model that they become.

import { Parts } from "../../words/parts.ts";
import type { StoredTensor } from "../block_layout.ts";
import type { LoadedBlocks } from "../load_tensors.ts";
import { typeOf } from "./formats.ts";
import type { SafetensorsHeader, TensorEntry } from "./header.ts";
import { type LoadedTensor, noteFormat, SafetensorsModel } from "./model.ts";

/** A tensor of a file, and the buffer that is to hold it. */
export interface StoredEntry extends StoredTensor {
  /** The tensor as its file describes it. */
  readonly entry: TensorEntry;
}

/** Returns where a tensor lies, and the buffer that is to hold it. */
export function storedAs(entry: TensorEntry, dataOffset: number): StoredEntry {
  const { name, shape, format, byteLength, byteOffset } = entry;
  const fileOffset = dataOffset + byteOffset;
  return { name, fileOffset, byteLength, dtype: typeOf(format), shape, entry };
}

/** Makes a model of loaded tensors. */
export function modelOf(
  { blocks, views }: LoadedBlocks<StoredEntry>,
  metadata: SafetensorsHeader["metadata"],
): SafetensorsModel {
  const tensors = new Map(views.map(([{ entry }, buffer]): [string, LoadedTensor] => {
    const { name, format, shape } = entry;
    noteFormat(buffer, { format, shape });
    return [name, { buffer, format }];
  }));
  return new SafetensorsModel(new Parts({ blocks, tensors, metadata }));
}
