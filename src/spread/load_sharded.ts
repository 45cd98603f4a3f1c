// Loads a model onto several devices: the headers of all files first, then memory on each device, then
// the bytes, each of which is read once, by all devices at the same time.

import { roundUp } from "../../ffi/alignment.ts";
import type { DeviceAllocator, DeviceBuffer } from "../buffers/device_buffer.ts";
import { nameView } from "../buffers/views.ts";
import { partOf } from "../copies/copy.ts";
import type { DiskFile } from "../disk/disk_file.ts";
import { fileNameOf } from "../disk/file_path.ts";
import { elementBytes } from "../dtype.ts";
import type { TensorEntry } from "../interop/safetensors/header.ts";
import {
  type OpenShard,
  openShards,
  type SafetensorsSource,
} from "../interop/safetensors/shards.ts";
import { takeAfterCollection } from "../memory/out_of_memory.ts";
import { type CudaStream, defaultStreamOf } from "../order/stream.ts";
import { type FileSection, uploadSections } from "../transfer/file_transfer.ts";
import type { FollowingWork } from "../transfer/host_transfer.ts";
import { type PartialTransfer, transferTogether } from "../transfer/in_parallel.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { oneRow } from "../transfer/pieces.ts";
import { PROGRESS_KINDS } from "../transfer/transfer_choice.ts";
import type { ByteSize } from "../words/format.ts";
import { CALLBACK, OptionSet, SIZE, TEXT } from "../words/options.ts";
import { Parts } from "../words/parts.ts";
import { DeviceParts, MIN_SHARED_BYTES } from "./device_parts.ts";
import { handingOn, settled } from "./move_parts.ts";
import {
  distribute,
  type DistributedTensor,
  PLACEMENT_RULES,
  type PlacementRule,
  requireUse,
} from "./placement.ts";
import { ShardedModel, type ShardedTensor } from "./sharded_model.ts";
import { evenStarts } from "./split.ts";

/** Options for {@link DeviceList.loadSafetensors}. */
export interface LoadShardedOptions extends TransferOptions {
  /**
   * Rules for the distribution of tensors by their names; the first match counts. Without rules
   * each device gets the whole model.
   */
  readonly place?: readonly PlacementRule[] | undefined;
  /** Chooses tensors; all by default. */
  readonly filter?: ((tensor: TensorEntry) => boolean) | undefined;
  /** Largest header that is read: 100 MB, as the format has it, by default. */
  readonly maxHeaderSize?: ByteSize | undefined;
  /** Name of the memory, shown in tables and errors; the file's by default. */
  readonly label?: string | undefined;
}

const LOAD_SHARDED: OptionSet<LoadShardedOptions> = new OptionSet({
  ...PROGRESS_KINDS,
  place: PLACEMENT_RULES,
  filter: CALLBACK,
  maxHeaderSize: SIZE,
  label: TEXT,
});

const EVERYWHERE: readonly PlacementRule[] = [[/(?:)/, "replicate"]];

/** Alignment in bytes of a tensor in its block. */
const ALIGNMENT = 256;

/** The parts that this process loads, when other processes load the rest. */
export interface OwnParts {
  readonly firstPart: number;
  readonly count: number;
}

/** The tensors of one file, and the beginning of each in the block of each device. */
interface PlannedShard {
  readonly shard: OpenShard;
  readonly tensors: readonly (DistributedTensor & { readonly offsets: readonly number[] })[];
  readonly blockBytes: readonly number[];
}

/** All bytes to read for one device, as one transfer. */
interface DeviceReads {
  readonly stream: CudaStream;
  readonly sections: FileSection[];
  /** Copies to the other devices of the bytes that they get, too. */
  readonly handOns: FollowingWork[];
}

/**
 * Loads a model onto devices; see {@link DeviceList.loadSafetensors}. Without `own` these devices get
 * all parts.
 *
 * @throws SafetensorsError when a file breaks the format.
 * @throws RangeError when no rule matches a tensor's name, or the tensor lacks the rule's axis; and for
 *   a rule that matches no tensor, unless there is a filter.
 */
export async function loadSharded(
  source: SafetensorsSource,
  gpus: readonly DeviceAllocator[],
  options: LoadShardedOptions = {},
  own: OwnParts = { firstPart: 0, count: gpus.length },
): Promise<ShardedModel> {
  options = LOAD_SHARDED.read(options, "loadSafetensors");
  const { place = EVERYWHERE, filter, maxHeaderSize, label, onProgress, signal } = options;
  using resources = new DisposableStack();
  const shards = await openShards(source, { resources, filter, maxHeaderSize, signal });
  const plans = shards.map((shard) => plan(shard, { place, ...own, ownCount: gpus.length }));
  if (filter === undefined) requireUse(place, shards.flatMap(({ tensors }) => tensors));
  using memory = new DisposableStack();
  const blocks: DeviceBuffer<"uint8">[][] = gpus.map(() => []);
  for (const { shard: { file }, blockBytes } of plans) {
    const name = label ?? fileNameOf(file.path);
    for (const [rank, gpu] of gpus.entries()) {
      const allocate = () => gpu.alloc("uint8", blockBytes[rank] ?? 0, { label: name });
      blocks[rank]?.push(memory.use(await takeAfterCollection(gpu.context, allocate)));
    }
  }
  const tensors = new Map<string, ShardedTensor>();
  const reads = gpus.map(({ context }): DeviceReads => {
    return { stream: defaultStreamOf(context), sections: [], handOns: [] };
  });
  for (const [file, { shard, tensors: planned }] of plans.entries()) {
    const memory = blocks.flatMap((list) => list[file] ?? []);
    for (const tensor of planned) {
      const parts = partsIn(memory, tensor, own.firstPart);
      tensors.set(tensor.entry.name, { tensor: parts, format: tensor.entry.format });
      addReads(reads, { shard, tensor, buffers: parts.buffers, firstPart: own.firstPart });
    }
  }
  await transferTogether(reads.map((each) => [readingOf(each)]), { onProgress, signal });
  await settled(blocks.flatMap(([block]) => block ?? []));
  const metadata = Object.assign({}, ...shards.map((shard) => shard.metadata));
  memory.move();
  return new ShardedModel(new Parts({ blocks, tensors, metadata }));
}

function plan(
  shard: OpenShard,
  how: OwnParts & { readonly place: readonly PlacementRule[]; readonly ownCount: number },
): PlannedShard {
  const { firstPart, ownCount } = how;
  const blockBytes = Array<number>(ownCount).fill(0);
  const tensors = shard.tensors.map((entry) => {
    const tensor = distribute(entry, how);
    const parts = tensor.layout.parts.slice(firstPart, firstPart + ownCount);
    const offsets = parts.map(({ rows }, at) => {
      const offset = roundUp(blockBytes[at] ?? 0, ALIGNMENT);
      blockBytes[at] = offset + rows.length * rows.rowCount * elementBytes(tensor.dtype);
      return offset;
    });
    return { ...tensor, offsets };
  });
  return { shard, tensors, blockBytes };
}

/** Makes the views of a tensor in the blocks of a file. */
function partsIn(
  blocks: readonly DeviceBuffer<"uint8">[],
  { entry, dtype, shape, layout, offsets }: PlannedShard["tensors"][number],
  firstPart: number,
): DeviceParts {
  const buffers = blocks.map((block, at) => {
    const part = layout.parts[firstPart + at];
    const offset = offsets[at] ?? 0;
    const count = part === undefined ? 0 : part.rows.length * part.rows.rowCount;
    const bytes = block.subarray(offset, offset + count * elementBytes(dtype));
    return nameView(bytes.as(dtype).reshape(part?.shape ?? shape), entry.name);
  });
  const { name: label } = entry;
  return new DeviceParts(new Parts({ dtype, shape, layout, buffers, label, firstPart }));
}

/** Adds the reads of a tensor to those of the devices. */
function addReads(
  reads: readonly DeviceReads[],
  { shard: { file, dataOffset }, tensor: { entry, dtype, layout }, buffers, firstPart }: {
    readonly shard: OpenShard;
    readonly tensor: DistributedTensor;
    readonly buffers: readonly DeviceBuffer[];
    readonly firstPart: number;
  },
): void {
  const start = dataOffset + entry.byteOffset;
  const bytes = elementBytes(dtype);
  if (layout.split === "replicate" && buffers.length > 1) {
    return addSharedReads(reads, { file, start, byteLength: entry.byteLength, buffers });
  }
  for (const [rank, { span }] of buffers.entries()) {
    const elements = layout.parts[firstPart + rank]?.rows;
    if (elements === undefined || span.byteLength === 0) continue;
    const rows = {
      offset: start + elements.offset * bytes,
      rowBytes: elements.length * bytes,
      pitch: elements.pitch * bytes,
      rowCount: elements.rowCount,
    };
    reads[rank]?.sections.push({ span, file, rows });
  }
}

/** A section of a file, and the memory on each device that gets all of it. */
interface SharedSection {
  readonly file: DiskFile;
  /** Offset in the file. */
  readonly start: number;
  readonly byteLength: number;
  readonly buffers: readonly DeviceBuffer[];
}

/** Adds the reads of bytes for every device: one device reads few, each a share of many. */
function addSharedReads(reads: readonly DeviceReads[], section: SharedSection): void {
  const { file, start, byteLength, buffers } = section;
  if (byteLength === 0) return;
  const counts = reads.map(({ handOns }) => handOns.length);
  const starts = evenStarts(byteLength, buffers.length);
  const shares = byteLength < MIN_SHARED_BYTES
    ? [{ rank: counts.indexOf(Math.min(...counts)), offset: 0, byteLength }]
    : starts.map((offset, rank) => {
      return { rank, offset, byteLength: (starts[rank + 1] ?? byteLength) - offset };
    });
  for (const share of shares) {
    const { span } = buffers[share.rank] ?? {};
    if (span === undefined) continue;
    const rows = oneRow(share.byteLength, start + share.offset);
    reads[share.rank]?.sections.push({ span: partOf(span, share), file, rows });
    reads[share.rank]?.handOns.push(handingOn(buffers, share));
  }
}

/** Reads a device's bytes, and copies to the others those that they get, too. */
function readingOf({ stream, sections, handOns }: DeviceReads): PartialTransfer {
  return {
    byteLength: sections.reduce((sum, { span }) => sum + span.byteLength, 0),
    run: async (options) => {
      await uploadSections({ ...options, stream, sections });
      for (const { queue } of handOns) queue();
    },
  };
}
