// A loaded model over several devices: tensors by name, each in parts or whole on every device.

import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import type { DType } from "../dtype.ts";
import { LoadedTensors, type NamedFormat } from "../interop/loaded_contents.ts";
import type { SafetensorsFormat } from "../interop/safetensors/formats.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import type { DeviceParts } from "./device_parts.ts";

/** One tensor: its buffers, views of the model's memory on each device, and its format. */
export type ShardedTensor = NamedFormat<DeviceParts, SafetensorsFormat>;

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
export class ShardedModel extends LoadedTensors<DeviceParts, SafetensorsFormat> {
  /** Metadata: strings about the model as a whole. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Bytes of memory on each device. */
  readonly deviceBytes: readonly number[];

  /** @ignore Adopts memory and the views of it. */
  constructor(parts: Parts<ShardedFields>) {
    const { metadata, blocks, tensors } = partsOf(parts, new.target);
    super(new Parts({ memory: blocks.flat(), tensors }));
    this.metadata = metadata;
    this.deviceBytes = blocks.map((own) => own.reduce((sum, block) => sum + block.byteLength, 0));
  }

  /** Bytes of memory on all devices together. */
  get byteLength(): number {
    return this.deviceBytes.reduce((sum, bytes) => sum + bytes, 0);
  }

  /**
   * Returns the tensor with a name; `download()` gathers it. With `dtype` it checks the element type.
   *
   * @throws TypeError when it has another element type.
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the model was disposed.
   */
  tensor<D extends DType = DType>(name: string, dtype?: D): DeviceParts<NoInfer<D>> {
    return this.found(name, dtype) as DeviceParts<D>;
  }

  /** Frees the memory and disposes every tensor. A second call does nothing. */
  override dispose(): void {
    for (const [, parts] of this) parts.dispose();
    super.dispose();
  }

  /** Returns the model's name for messages: `ShardedModel(300 tensors, 2 GiB on 2 devices)`. */
  override toString(): string {
    const devices = formatCount(this.deviceBytes.length, "device");
    return `ShardedModel(${formatCount(this.size, "tensor")}, ${formatBytes(this.byteLength)} ` +
      `on ${devices})`;
  }
}

comesFrom(ShardedModel, "gpus.loadSafetensors()");
