// Uploads a file's elements into new device memory.

import type { DeviceAllocator, DeviceBuffer } from "../buffers/device_buffer.ts";
import { ALLOCATE_KINDS, type AllocateOptions, allocationOf } from "../buffers/place_options.ts";
import { countOf, elementsIn, type Shape, toShape } from "../buffers/shape.ts";
import { fileNameOf, type FilePath, isWebAddress } from "../disk/file_path.ts";
import { FileReading, type OpenedFile } from "../disk/file_reading.ts";
import { DTYPE, type DType, elementBytes } from "../dtype.ts";
import { takeAfterCollection } from "../memory/out_of_memory.ts";
import { streamOn } from "../order/stream_choice.ts";
import { uploadFrom } from "../transfer/file_transfer.ts";
import { transfer } from "../transfer/host_transfer.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { TRANSFER_KINDS } from "../transfer/transfer_choice.ts";
import { finishedLater } from "../words/finished.ts";
import { checkSize, visibleText } from "../words/format.ts";
import { NUMBER, OptionSet, SHAPE } from "../words/options.ts";

/** Size that /sys reports for files whose contents it generates. */
const GENERATED_FILE_BYTES = 4096;

/** Options for {@link CudaDevice.uploadFile}. */
export interface UploadFileOptions<D extends DType> extends AllocateOptions, TransferOptions {
  /** Element type; `"uint8"` by default. */
  readonly dtype?: D | undefined;
  /** Size of each axis; by default one axis with all elements. */
  readonly shape?: number | Shape | undefined;
  /** Offset of the first element in the file, in bytes; 0 by default. */
  readonly fileOffset?: number | undefined;
  /** Number of bytes; by default those of the shape, or the rest of the file. */
  readonly byteLength?: number | undefined;
}

/** Checks the options above. */
export const UPLOAD_FILE_OPTIONS: OptionSet<UploadFileOptions<DType>> = new OptionSet({
  ...ALLOCATE_KINDS,
  ...TRANSFER_KINDS,
  dtype: DTYPE,
  shape: SHAPE,
  fileOffset: NUMBER,
  byteLength: NUMBER,
});

/**
 * Allocates device memory on `gpu` and fills it from a file.
 *
 * @throws RangeError when the file is too short, or its bytes are not a whole number of elements.
 * @throws TypeError when it is a folder, a pipe or a device, or an address on the web.
 */
export async function uploadFile<D extends DType = "uint8">(
  path: FilePath,
  options: UploadFileOptions<D> & { readonly gpu: DeviceAllocator },
): Promise<DeviceBuffer<D>> {
  const { gpu, dtype = "uint8" as D, fileOffset = 0 } = options;
  const { onProgress, signal } = options;
  const stream = streamOn(gpu.context, options, "memory");
  if (isWebAddress(path)) {
    const remedy = "gpu.from(await fetch(url)) takes responses";
    throw new TypeError(`Cannot upload ${visibleText(`${path}`)}: expected a file; ${remedy}`);
  }
  using reading = new FileReading(path);
  const opened = await reading.opened(signal);
  const { file } = opened;
  const contents = readSmall(opened);
  const byteLength = contents?.byteLength ?? opened.byteLength;
  const shape = shapeIn({ path: file.path, byteLength }, { ...options, dtype });
  const label = options.label ?? fileNameOf(file.path);
  const allocate = () => gpu.alloc(dtype, shape, { ...allocationOf(options), label });
  return await finishedLater(takeAfterCollection(gpu.context, allocate), async ({ span }) => {
    if (contents === undefined) {
      return await uploadFrom({ span, stream, file, fileOffset, onProgress, signal });
    }
    const memory = contents.subarray(fileOffset, fileOffset + span.byteLength);
    const task = { direction: "upload", host: { memory }, isPlaced: true } as const;
    await transfer({ ...task, span, stream, onProgress, signal });
  });
}

/**
 * Reads a small file whole; returns undefined for a large one. The system generates some files as
 * they are read (/proc, /sys) and reports 0 bytes or a page as their size, whatever they hold.
 */
function readSmall({ file, byteLength }: OpenedFile): Uint8Array<ArrayBuffer> | undefined {
  if (byteLength > GENERATED_FILE_BYTES) return undefined;
  let bytes = new Uint8Array(GENERATED_FILE_BYTES + 1);
  let end = 0;
  for (;;) {
    end += file.readSomeSync(bytes.subarray(end), end);
    if (end < bytes.byteLength) return new Uint8Array(bytes.buffer.transfer(end));
    bytes = new Uint8Array(bytes.buffer.transfer(2 * bytes.byteLength));
  }
}

/** Returns the shape of the elements that the options name, all of which the file must have. */
function shapeIn(
  file: { path: string; byteLength: number },
  options: UploadFileOptions<DType> & { readonly dtype: DType },
): Shape {
  const { dtype } = options;
  const path = visibleText(file.path);
  const fileOffset = checkSize(options.fileOffset ?? 0, "file offset");
  const bytes = elementBytes(dtype);
  const given = options.shape === undefined ? undefined : toShape(options.shape);
  const rest = Math.max(file.byteLength - fileOffset, 0);
  const byteLength = options.byteLength ?? (given === undefined ? rest : countOf(given) * bytes);
  checkSize(byteLength, "byteLength");
  if (fileOffset + byteLength > file.byteLength) {
    throw new RangeError(
      `Cannot upload ${byteLength} bytes at ${fileOffset} of ${path}: it has ${file.byteLength}`,
    );
  }
  const action = `upload ${byteLength} bytes of ${path} as ${dtype}`;
  const count = elementsIn(byteLength, dtype, action);
  if (given !== undefined && countOf(given) !== count) {
    throw new RangeError(
      `Cannot upload ${count} elements of ${path} as [${given.join(", ")}]: the shape has ` +
        `${countOf(given)}`,
    );
  }
  return given ?? toShape(count);
}
