// Loads the tensors of opened files: one block of memory for each file, then the bytes, all files in turn.

import type { DeviceAllocator, DeviceBuffer } from "../buffers/device_buffer.ts";
import { ALLOCATE_KINDS, type AllocateOptions, allocationOf } from "../buffers/place_options.ts";
import { partOf } from "../copies/copy.ts";
import type { DiskFile } from "../disk/disk_file.ts";
import { fileNameOf } from "../disk/file_path.ts";
import { takeAfterCollection } from "../memory/out_of_memory.ts";
import type { CudaStream } from "../order/stream.ts";
import { uploadFrom } from "../transfer/file_transfer.ts";
import { transferTogether } from "../transfer/in_parallel.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { TRANSFER_KINDS } from "../transfer/transfer_choice.ts";
import type { ByteSize } from "../words/format.ts";
import { oneOf, SIZE } from "../words/options.ts";
import { type BlockLayout, placeTensors, type StoredTensor, viewsOf } from "./block_layout.ts";

/** Options for loading the tensors of files. */
export interface LoadTensorsOptions extends AllocateOptions, TransferOptions {
  /** Largest header that is read: 100 MB by default. */
  readonly maxHeaderSize?: ByteSize | undefined;
  /**
   * The files' bytes in the system's memory, where the next load finds them: `"leave"`, the default,
   * leaves them to the system; `"drop"` has it forget each file as soon as it was read.
   */
  readonly cache?: "leave" | "drop" | undefined;
}

/** Kinds of the options above. */
export const LOAD_KINDS = {
  ...ALLOCATE_KINDS,
  ...TRANSFER_KINDS,
  maxHeaderSize: SIZE,
  cache: oneOf("leave", "drop"),
} as const;

/** An open file, and the tensors to load from it, in the order of the file. */
export interface TensorFile<T extends StoredTensor> {
  readonly file: DiskFile;
  readonly tensors: readonly T[];
}

/** The device to load onto. */
export interface LoadTarget {
  readonly gpu: DeviceAllocator;
  readonly stream: CudaStream;
  readonly options: LoadTensorsOptions;
}

/** Memory that was loaded into. */
export interface LoadedBlocks<T extends StoredTensor> {
  readonly blocks: readonly DeviceBuffer<"uint8">[];
  /** The tensors, in the order of the files. */
  readonly views: readonly (readonly [tensor: T, view: DeviceBuffer])[];
}

/** Loads tensors; when one cannot be loaded, none is. */
export async function loadTensors<T extends StoredTensor>(
  files: readonly TensorFile<T>[],
  target: LoadTarget,
): Promise<LoadedBlocks<T>> {
  const { stream, options } = target;
  using memory = new DisposableStack();
  const placed: { file: DiskFile; layout: BlockLayout<T>; block: DeviceBuffer<"uint8"> }[] = [];
  for (const { file, tensors } of files) {
    const layout = placeTensors(tensors);
    const block = memory.use(await allocateBlock(layout, fileNameOf(file.path), target));
    placed.push({ file, layout, block });
  }
  const reads = placed.flatMap(({ file, layout: { runs }, block }) => {
    const { span: whole } = block;
    let left = runs.length;
    return runs.map(({ blockOffset, byteLength, fileOffset }) => ({
      byteLength,
      async run(own: TransferOptions) {
        const span = partOf(whole, { offset: blockOffset, byteLength });
        await uploadFrom({ ...own, span, stream, file, fileOffset });
        if (--left === 0 && options.cache === "drop") file.dropCached();
      },
    }));
  });
  await transferTogether([reads], options);
  const views = placed.flatMap(({ layout, block }) => viewsOf(layout, block));
  memory.move();
  return { blocks: placed.map(({ block }) => block), views };
}

/** Allocates the block of a file. */
export async function allocateBlock(
  { byteLength }: BlockLayout<StoredTensor>,
  name: string,
  { gpu, options }: LoadTarget,
): Promise<DeviceBuffer<"uint8">> {
  const place = { ...allocationOf(options), label: options.label ?? name };
  return await takeAfterCollection(gpu.context, () => gpu.alloc("uint8", byteLength, place));
}
