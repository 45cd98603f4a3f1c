// Loads a model: the headers of all files first, then memory for them, then the bytes, so that most
// failures come before any tensor is read.

import type { DeviceAllocator } from "../../buffers/device_buffer.ts";
import type { DeviceBuffer } from "../../buffers/device_buffer.ts";
import { ALLOCATE_KINDS, type AllocateOptions, allocationOf } from "../../buffers/place_options.ts";
import { nameView } from "../../buffers/views.ts";
import { partOf } from "../../copies/copy.ts";
import { fileNameOf } from "../../disk/file_path.ts";
import { contextOf } from "../../memory/memory_resource.ts";
import { takeAfterCollection } from "../../memory/out_of_memory.ts";
import type { CudaStream } from "../../order/stream.ts";
import { streamOn } from "../../order/stream_choice.ts";
import { uploadFrom } from "../../transfer/file_transfer.ts";
import { type PartialTransfer, transferTogether } from "../../transfer/in_parallel.ts";
import type { TransferOptions } from "../../transfer/pending_transfer.ts";
import { TRANSFER_KINDS } from "../../transfer/transfer_choice.ts";
import type { ByteSize } from "../../words/format.ts";
import { CALLBACK, OptionSet, SIZE } from "../../words/options.ts";
import { Parts } from "../../words/parts.ts";
import { typeOf } from "./formats.ts";
import type { TensorEntry } from "./header.ts";
import { type BlockLayout, placeTensors } from "./layout.ts";
import { type LoadedTensor, noteFormat, SafetensorsModel } from "./model.ts";
import { type OpenShard, openShards } from "./open_shards.ts";
import type { SafetensorsSource } from "./shards.ts";

/** Options for {@link CudaDevice.loadSafetensors}. */
export interface LoadSafetensorsOptions extends AllocateOptions, TransferOptions {
  /** Chooses tensors; all by default. */
  readonly filter?: ((tensor: TensorEntry) => boolean) | undefined;
  /** Largest header that is read: 100 MB, as the format has it, by default. */
  readonly maxHeaderSize?: ByteSize | undefined;
}

const LOAD_OPTIONS = new OptionSet<LoadSafetensorsOptions>({
  ...ALLOCATE_KINDS,
  ...TRANSFER_KINDS,
  filter: CALLBACK,
  maxHeaderSize: SIZE,
});

/** One file, opened, and the places of its tensors in memory. */
interface PlacedShard extends OpenShard {
  readonly layout: BlockLayout;
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
  const shards = (await openShards(source, { resources, filter, maxHeaderSize, signal }))
    .map((shard): PlacedShard => ({ ...shard, layout: placeTensors(shard.tensors) }));
  using memory = new DisposableStack();
  const blocks: DeviceBuffer<"uint8">[] = [];
  for (const { file, layout } of shards) {
    const label = options.label ?? fileNameOf(file.path);
    const place = { ...allocationOf(options), label };
    const allocate = () => gpu.alloc("uint8", layout.byteLength, place);
    blocks.push(memory.use(await takeAfterCollection(context, allocate)));
  }
  const reads = shards.flatMap((shard, i) => readsOf(shard, blocks[i], stream));
  await transferTogether([reads], options);
  const tensors = new Map(shards.flatMap((shard, i) => [...viewsOf(shard, blocks[i])]));
  const metadata = Object.assign({}, ...shards.map((shard) => shard.metadata));
  memory.move();
  return new SafetensorsModel(new Parts({ blocks, tensors, metadata }));
}

/** Returns the reads that fill the block of a file. */
function readsOf(
  { file, dataOffset, layout }: PlacedShard,
  block: DeviceBuffer | undefined,
  stream: CudaStream,
): PartialTransfer[] {
  if (block === undefined) return [];
  const whole = block.span;
  return layout.runs.map(({ blockOffset, byteLength, fileOffset: start }) => {
    const span = partOf(whole, { offset: blockOffset, byteLength });
    const fileOffset = dataOffset + start;
    return {
      byteLength,
      run: (options) => uploadFrom({ ...options, span, stream, file, fileOffset }),
    };
  });
}

function* viewsOf(
  { layout }: PlacedShard,
  block: DeviceBuffer | undefined,
): Generator<[string, LoadedTensor]> {
  if (block === undefined) return;
  for (const { entry, blockOffset } of layout.tensors) {
    const { name, format, shape, byteLength } = entry;
    const bytes = block.subarray(blockOffset, blockOffset + byteLength);
    const buffer = nameView(bytes.as(typeOf(format)).reshape(shape), name);
    noteFormat(buffer, { format, shape });
    yield [name, { buffer, format }];
  }
}
