// Loads a model: the headers of all files first, then memory for them, then the bytes, so that most
// failures come before any tensor is read.

import type { DeviceAllocator } from "../../buffers/device_buffer.ts";
import { contextOf } from "../../memory/memory_resource.ts";
import { streamOn } from "../../order/stream_choice.ts";
import { CALLBACK, OptionSet } from "../../words/options.ts";
import { LOAD_KINDS, loadTensors, type LoadTensorsOptions } from "../load_tensors.ts";
import { type Arriving, isArriving } from "../arriving_bytes.ts";
import { headerLimit, type TensorEntry } from "./header.ts";
import { loadArriving } from "./load_arriving.ts";
import { modelOf, type SafetensorsModel, storedAs } from "./model.ts";
import { openShards, type SafetensorsSource } from "./shards.ts";

/** Options for {@link CudaDevice.loadSafetensors}. */
export interface LoadSafetensorsOptions extends LoadTensorsOptions {
  /** Chooses tensors; all by default. */
  readonly filter?: ((tensor: TensorEntry) => boolean) | undefined;
}

/** Kinds of the options above. */
export const SAFETENSORS_KINDS = { ...LOAD_KINDS, filter: CALLBACK } as const;

const LOAD_OPTIONS = new OptionSet<LoadSafetensorsOptions>(SAFETENSORS_KINDS);

/**
 * Loads a model onto a device: one block of memory for each file, and a view of it for each tensor.
 *
 * @throws SafetensorsError when a file breaks the format; the message names the file and the
 *   reason.
 */
export async function loadSafetensors(
  source: SafetensorsSource | Arriving,
  gpu: DeviceAllocator,
  options: LoadSafetensorsOptions = {},
): Promise<SafetensorsModel> {
  options = LOAD_OPTIONS.read(options, "loadSafetensors");
  const context = contextOf(gpu, "load a model onto");
  const stream = streamOn(context, options, "memory");
  if (isArriving(source)) {
    const maxHeaderBytes = headerLimit(options.maxHeaderSize);
    return await loadArriving(source, { gpu, stream, options, maxHeaderBytes });
  }
  using resources = new DisposableStack();
  const { filter, maxHeaderSize, signal } = options;
  const shards = await openShards(source, { resources, filter, maxHeaderSize, signal });
  const files = shards.map(({ file, dataOffset, tensors }) => {
    return { file, tensors: tensors.map((entry) => storedAs(entry, dataOffset)) };
  });
  const loaded = await loadTensors(files, { gpu, stream, options });
  return modelOf(loaded, Object.assign({}, ...shards.map(({ metadata }) => metadata)));
}
