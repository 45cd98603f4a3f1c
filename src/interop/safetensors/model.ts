// A loaded model: tensors by name, in one block of device memory for each file, freed together.

import { comesFrom, Parts } from "../../words/parts.ts";
import type { StoredTensor } from "../block_layout.ts";
import type { LoadedBlocks } from "../load_tensors.ts";
import { DeviceModel } from "../loaded_contents.ts";
import { type SafetensorsFormat, typeOf } from "./formats.ts";
import type { TensorEntry } from "./header.ts";

/** Loaded tensors as their files describe them, so that they are saved as they came. */
const loaded = new WeakMap<object, Pick<TensorEntry, "format" | "shape">>();

/** Returns the format of a tensor of a loaded model; undefined for every other buffer. */
export function loadedFormat(buffer: object): Pick<TensorEntry, "format" | "shape"> | undefined {
  return loaded.get(buffer);
}

/**
 * A model on the device, as {@link CudaDevice.loadSafetensors} returns it: tensors by name. Each
 * tensor is a view of the model's memory; disposing the model frees them all.
 */
export class SafetensorsModel
  extends DeviceModel<SafetensorsFormat, Readonly<Record<string, string>>> {}

comesFrom(SafetensorsModel, "gpu.loadSafetensors()");

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
  { blocks: memory, views }: LoadedBlocks<StoredEntry>,
  metadata: SafetensorsModel["metadata"],
): SafetensorsModel {
  const tensors = views.map(([{ entry: { name, format, shape } }, tensor]) => {
    loaded.set(tensor, { format, shape });
    return [name, { tensor, format }] as const;
  });
  return new SafetensorsModel(new Parts({ memory, tensors, metadata }));
}
