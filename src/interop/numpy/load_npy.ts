// Loads numpy's .npy files: elements go straight to the GPU if possible, and through the host if
// their bytes or axes are in another order.

import type { DeviceAllocator, DeviceBuffer } from "../../buffers/device_buffer.ts";
import { ALLOCATE_KINDS, type AllocateOptions } from "../../buffers/place_options.ts";
import type { DiskFile } from "../../disk/disk_file.ts";
import { fileNameOf, type FilePath } from "../../disk/file_path.ts";
import { FileReading } from "../../disk/file_reading.ts";
import { DTYPE, type DType } from "../../dtype.ts";
import { contextOf } from "../../memory/memory_resource.ts";
import { type NpyHeader, npyHeaderFrom, NumpyError } from "../../numpy/npy_header.ts";
import { streamOn } from "../../order/stream_choice.ts";
import { Pauses } from "../../order/waiting.ts";
import { uploadFrom } from "../../transfer/file_transfer.ts";
import type { TransferOptions } from "../../transfer/pending_transfer.ts";
import { TRANSFER_KINDS } from "../../transfer/transfer_choice.ts";
import { visibleText } from "../../words/format.ts";
import { OptionSet } from "../../words/options.ts";
import type { HostMemory } from "../../memory/host_memory.ts";
import { ArrivingBytes, isArriving } from "../arriving_bytes.ts";
import type { ByteSource } from "../byte_source.ts";
import { dataBytesOf, type ElementBytes, filled, fillFrom } from "./fill_array.ts";
import { readPiece, readWhole } from "./read_piece.ts";

/** Options for {@link CudaDevice.loadNpy} and `loadNpz()`. */
export interface LoadNpyOptions extends AllocateOptions, TransferOptions {}

/** Checks the options above. */
export const LOAD_NPY_OPTIONS: OptionSet<LoadNpyOptions> = new OptionSet({
  ...ALLOCATE_KINDS,
  ...TRANSFER_KINDS,
});

/** Checks the options of a file with one array, with the expected element type. */
const LOAD_ONE_OPTIONS = new OptionSet<LoadNpyOptions & { readonly dtype?: DType | undefined }>({
  ...ALLOCATE_KINDS,
  ...TRANSFER_KINDS,
  dtype: DTYPE,
});

/**
 * Loads an array into new device memory, in C order. With `dtype` the result has that element type:
 * elements of 2 bytes without a type (`|V2`) can be read as bfloat16, those of 1 byte as a float8 type.
 *
 * @throws NumpyError when it is not such a file, was cut off, or holds elements without a type here.
 * @throws TypeError when its elements are not of `dtype`.
 */
export async function loadNpy<D extends DType = DType>(
  source: FilePath | ByteSource | HostMemory,
  gpu: DeviceAllocator,
  options: LoadNpyOptions & { readonly dtype?: D | undefined } = {},
): Promise<DeviceBuffer<D>> {
  options = LOAD_ONE_OPTIONS.read(options, "loadNpy");
  const { dtype, onProgress, signal } = options;
  const stream = streamOn(contextOf(gpu, "load an array onto"), options, "memory");
  if (isArriving(source)) {
    await using bytes = await ArrivingBytes.open(source, { signal, stream });
    const header = await npyHeaderFrom(bytes.name, (count) => bytes.take(count), dtype);
    requireDType(bytes.name, header, dtype);
    const label = options.label ?? bytes.name;
    const request = { gpu, header, stream, options: { ...options, label } };
    const elements: ElementBytes = {
      async read(piece) {
        if (!await bytes.fill(piece)) throw new NumpyError(bytes.name, "it was cut off");
      },
    };
    return await filled(request, (buffer) => {
      return fillFrom(buffer, request, elements);
    }) as DeviceBuffer<D>;
  }
  using reading = new FileReading(source);
  const { file, byteLength } = await reading.opened(signal);
  const header = await readHeader(file, { byteLength, dtype });
  requireDType(file.path, header, dtype);
  const fileOffset = header.byteLength;
  const label = options.label ?? fileNameOf(file.path);
  const request = { gpu, header, stream, options: { ...options, label } };
  return await filled(request, async (buffer) => {
    const { span } = buffer;
    if (header.isBigEndian) await fillFrom(buffer, request, elementsOf(file, fileOffset, signal));
    else await uploadFrom({ span, stream, file, fileOffset, onProgress, signal });
  }) as DeviceBuffer<D>;
}

function requireDType(path: string, header: NpyHeader, dtype: DType | undefined): void {
  if (dtype === undefined || header.dtype === dtype) return;
  throw new TypeError(`Cannot load ${visibleText(path)} as ${dtype}: it is ${header.dtype}`);
}

/** Reads elements from a place in a file on. */
function elementsOf(
  file: DiskFile,
  fileOffset: number,
  signal: AbortSignal | undefined,
): ElementBytes {
  const pauses = new Pauses(signal);
  let offset = fileOffset;
  return {
    async read(bytes) {
      await pauses.whenDue();
      await readPiece(file, bytes, offset);
      offset += bytes.byteLength;
    },
  };
}

async function readHeader(
  file: DiskFile,
  { byteLength, dtype }: { readonly byteLength: number; readonly dtype: DType | undefined },
): Promise<NpyHeader> {
  const { path } = file;
  let at = 0;
  const read = (count: number) => {
    const bytes = new Uint8Array(Math.min(count, byteLength - at));
    at += bytes.byteLength;
    return Promise.resolve(readWhole(file, bytes, at - bytes.byteLength));
  };
  const header = await npyHeaderFrom(path, read, dtype);
  const expected = header.byteLength + dataBytesOf(header);
  if (byteLength >= expected) return header;
  throw new NumpyError(
    path,
    `it has ${byteLength} of the ${expected} bytes that its header announces`,
  );
}
