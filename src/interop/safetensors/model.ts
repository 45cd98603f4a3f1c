// A loaded model: tensors by name, in one block of device memory for each file, freed together.

import type { DeviceBuffer } from "../../buffers/device_buffer.ts";
import type { Shape } from "../../buffers/shape.ts";
import { comesFrom, Parts, partsOf } from "../../words/parts.ts";
import { DeviceModel } from "../loaded_contents.ts";
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
  readonly metadata: SafetensorsModel["metadata"];
}

/**
 * A model on the device, as {@link CudaDevice.loadSafetensors} returns it: tensors by name. Each
 * tensor is a view of the model's memory; disposing the model frees them all.
 */
export class SafetensorsModel
  extends DeviceModel<SafetensorsFormat, Readonly<Record<string, string>>> {
  /** @ignore Adopts memory and the views of it. */
  constructor(parts: Parts<ModelFields>) {
    const { metadata, blocks: memory, tensors } = partsOf(parts, new.target);
    const named = tensors.entries().map(([name, { buffer, format }]) => {
      return [name, { tensor: buffer, format }] as const;
    });
    super(new Parts({ memory, metadata, tensors: named }));
  }
}

comesFrom(SafetensorsModel, "gpu.loadSafetensors()");
