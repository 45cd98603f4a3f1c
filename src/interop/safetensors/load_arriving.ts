// Loads a model from bytes, or from a source of them, in the order of the bytes: the header, memory for all
// tensors, and then each tensor into its place, so that the host holds no more than a few MiB.

import type { DeviceBuffer } from "../../buffers/device_buffer.ts";
import { partOf } from "../../copies/copy.ts";
import { bytesOf, type HostMemory, isHostMemory } from "../../memory/host_memory.ts";
import { ArrayPlace } from "../../transfer/array_uses.ts";
import { transfer } from "../../transfer/host_transfer.ts";
import { ProgressTotal, transferTogether } from "../../transfer/in_parallel.ts";
import type { TransferOptions } from "../../transfer/pending_transfer.ts";
import { StagedWriter, whenQueuedIsDone } from "../../transfer/staged_writer.ts";
import { wholeOf } from "../../transfer/web_streams.ts";
import { finishedLater } from "../../words/finished.ts";
import { isAccepted } from "../../words/options.ts";
import { type Arriving, ArrivingBytes } from "../arriving_bytes.ts";
import { type BlockLayout, type FileRun, placeTensors, viewsOf } from "../block_layout.ts";
import { allocateBlock, type LoadTarget } from "../load_tensors.ts";
import { SafetensorsError, type SafetensorsHeader, type TensorEntry } from "./header.ts";
import { modelOf, type SafetensorsModel, storedAs, type StoredEntry } from "./model.ts";
import { readArrivingHeader, readHeaderBy } from "./read_header.ts";

/** The device to load onto, and what may be loaded. */
interface ArrivingTarget extends LoadTarget {
  readonly options: LoadTarget["options"] & {
    readonly filter?: ((tensor: TensorEntry) => boolean) | undefined;
  };
  readonly maxHeaderBytes: number;
}

/** Loads a model from bytes or from a source of them. */
export async function loadArriving(
  source: Arriving,
  target: ArrivingTarget,
): Promise<SafetensorsModel> {
  if (isHostMemory(source)) return await loadBytes(source, target);
  const { stream, options, maxHeaderBytes } = target;
  const { filter, signal, onProgress } = options;
  await using bytes = await ArrivingBytes.open(source, { signal, stream });
  const header = await readArrivingHeader(bytes, maxHeaderBytes);
  return await loadInto(bytes.name, header, target, async (block, { runs }) => {
    const total = runs.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const progress = new ProgressTotal(total, onProgress);
    for (const run of runs) {
      await skip(bytes, run.fileOffset);
      await fillRun(bytes, run, { block, target, report: progress.part() });
    }
    if (filter !== undefined || await bytes.next(1) === undefined) return;
    throw new SafetensorsError(bytes.name, "bytes follow its last tensor");
  });
}

/** Loads a model from an array, which stays as it is until all of it is on the device. */
async function loadBytes(source: HostMemory, target: ArrivingTarget): Promise<SafetensorsModel> {
  const { stream, options, maxHeaderBytes } = target;
  const bytes = bytesOf(source, "load a model");
  using place = new ArrayPlace([{ memory: bytes, access: "read" }], stream);
  await place.isFirst;
  await whenQueuedIsDone(bytes, stream);
  const path = "the bytes";
  const read = (offset: number, count: number) => {
    return Promise.resolve(bytesOf(source, "load a model").slice(offset, offset + count));
  };
  const { byteLength } = bytes;
  const header = await readHeaderBy(read, { path, byteLength, maxHeaderBytes });
  return await loadInto(path, header, target, async (block, { runs }) => {
    const { span: whole } = block;
    const reads = runs.map(({ blockOffset, byteLength, fileOffset }) => ({
      byteLength,
      async run(own: TransferOptions) {
        const span = partOf(whole, { offset: blockOffset, byteLength });
        const memory = bytes.subarray(fileOffset, fileOffset + byteLength);
        const task = { direction: "upload", host: { memory }, isPlaced: true } as const;
        await transfer({ ...own, ...task, span, stream });
      },
    }));
    await transferTogether([reads], options);
  });
}

/** Allocates the model's block, has it filled, and makes the model. */
async function loadInto(
  name: string,
  { tensors, dataOffset, metadata }: SafetensorsHeader,
  target: ArrivingTarget,
  fill: (block: DeviceBuffer<"uint8">, layout: BlockLayout<StoredEntry>) => Promise<void>,
): Promise<SafetensorsModel> {
  const { filter = () => true } = target.options;
  const chosen = tensors.filter((entry) => isAccepted(filter, entry));
  const layout = placeTensors(chosen.map((entry) => storedAs(entry, dataOffset)));
  const coming = allocateBlock(layout, name, target);
  const block = await finishedLater(coming, (block) => fill(block, layout));
  return modelOf({ blocks: [block], views: viewsOf(layout, block) }, metadata);
}

async function skip(bytes: ArrivingBytes, offset: number): Promise<void> {
  while (bytes.offset < offset) {
    if (await bytes.next(offset - bytes.offset) === undefined) throw endedEarly(bytes);
  }
}

/** Writes the next bytes into their place on the device. */
async function fillRun(
  bytes: ArrivingBytes,
  { blockOffset, byteLength }: FileRun,
  { block, target: { stream }, report }: {
    readonly block: DeviceBuffer<"uint8">;
    readonly target: ArrivingTarget;
    readonly report: (doneBytes: number) => void;
  },
): Promise<void> {
  const part = block.subarray(blockOffset, blockOffset + byteLength);
  const writer = new StagedWriter(wholeOf(part, stream), report);
  try {
    for (let left = byteLength; left > 0;) {
      const chunk = await bytes.next(left);
      if (chunk === undefined) throw endedEarly(bytes);
      await writer.write(chunk);
      left -= chunk.byteLength;
    }
    await writer.finish();
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

function endedEarly({ name, offset }: ArrivingBytes): SafetensorsError {
  return new SafetensorsError(name, `it ended after ${offset} bytes, before its last tensor`);
}
