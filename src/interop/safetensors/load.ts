// Loads a model: the headers of all files first, then memory for them, then the bytes, so that most
// failures come before any tensor is read.

import type { DeviceAllocator } from "../../buffers/device_allocator.ts";
import { contextOf } from "../../memory/memory_resource.ts";
import { streamOn } from "../../order/stream_choice.ts";
import { CALLBACK, OptionSet } from "../../words/options.ts";
import { Parts } from "../../words/parts.ts";
import type { StoredTensor } from "../block_layout.ts";
import {
  LOAD_KINDS,
  type LoadedBlocks,
  loadTensors,
  type LoadTensorsOptions,
} from "../load_tensors.ts";
import { heldAs } from "./formats.ts";
import type { SafetensorsHeader, TensorEntry } from "./header.ts";
import { type LoadedTensor, noteFormat, SafetensorsModel } from "./model.ts";
import { openShards } from "./open_shards.ts";
import type { SafetensorsSource } from "./shards.ts";

/** Options for {@link CudaDevice.loadSafetensors}. */
export interface LoadSafetensorsOptions extends LoadTensorsOptions {
  /** Chooses tensors; all by default. */
  readonly filter?: ((tensor: TensorEntry) => boolean) | undefined;
}

/** Kinds of the options above. */
export const SAFETENSORS_KINDS = { ...LOAD_KINDS, filter: CALLBACK } as const;

const LOAD_OPTIONS = new OptionSet<LoadSafetensorsOptions>(SAFETENSORS_KINDS);

/** A tensor of a file, and the buffer that is to hold it. */
export interface StoredEntry extends StoredTensor {
  /** The tensor as its file describes it. */
  readonly entry: TensorEntry;
}

/**
 * Loads a model onto a device: one block of memory for each file, and a view of it for each tensor.
 *
 * @throws SafetensorsError when a file breaks the format; the message names the file and the
 *   reason.
 * @throws TypeError for an address on the web.
 */
export async function loadSafetensors(
  source: SafetensorsSource,
  gpu: DeviceAllocator,
  options: LoadSafetensorsOptions = {},
): Promise<SafetensorsModel> {
  options = LOAD_OPTIONS.read(options, "loadSafetensors");
  const context = contextOf(gpu, "load a model onto");
  const stream = streamOn(context, options, "memory");
  using resources = new DisposableStack();
  const { filter, maxHeaderSize, signal } = options;
  const shards = await openShards(source, { resources, filter, maxHeaderSize, signal });
  const files = shards.map(({ file, dataOffset, tensors }) => {
    return { file, tensors: tensors.map((entry) => storedAs(entry, dataOffset)) };
  });
  const loaded = await loadTensors(files, { gpu, stream, options });
  return modelOf(loaded, Object.assign({}, ...shards.map(({ metadata }) => metadata)));
}

/** Returns where a tensor lies, and the buffer that is to hold it. */
export function storedAs(entry: TensorEntry, dataOffset: number): StoredEntry {
  const { name, byteLength, byteOffset } = entry;
  const fileOffset = dataOffset + byteOffset;
  return { name, fileOffset, byteLength, ...heldAs(entry.format, entry), entry };
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
