// Loads numpy's .npy files: elements go straight to the GPU if possible, and through the host if
// their bytes or axes are in another order.

import {
  ALLOCATE_KINDS,
  type AllocateOptions,
  allocationOf,
  type DeviceAllocator,
} from "../../buffers/device_allocator.ts";
import type { DeviceBuffer } from "../../buffers/device_buffer.ts";
import { toShape } from "../../buffers/shape.ts";
import type { DiskFile } from "../../disk/disk_file.ts";
import { fileNameOf, type FilePath } from "../../disk/file_path.ts";
import { FileReading } from "../../disk/file_reading.ts";
import { allocateBits, DTYPE, type DType, elementBytes } from "../../dtype.ts";
import { contextOf } from "../../memory/memory_resource.ts";
import { takeAfterCollection } from "../../memory/out_of_memory.ts";
import {
  headerBytesOf,
  NPY_START_BYTES,
  type NpyHeader,
  NumpyError,
  readNpyHeader,
} from "../../numpy/npy_header.ts";
import type { CudaStream } from "../../order/stream.ts";
import { streamOn } from "../../order/stream_choice.ts";
import { uploadFrom } from "../../transfer/file_transfer.ts";
import { transfer } from "../../transfer/host_transfer.ts";
import type { TransferOptions } from "../../transfer/pending_transfer.ts";
import { TRANSFER_KINDS } from "../../transfer/transfer_choice.ts";
import { OptionSet } from "../../words/options.ts";
import { sleep } from "../../words/timer.ts";

/** Options for {@link CudaDevice.loadNpy} and `loadNpz()`. */
export interface LoadNpyOptions extends AllocateOptions, TransferOptions {}

/** Checks the options above. */
export const LOAD_NPY_OPTIONS: OptionSet<LoadNpyOptions> = new OptionSet({
  ...ALLOCATE_KINDS,
  ...TRANSFER_KINDS,
});

/** Options of a file with one array, with the expected element type. */
type LoadOneOptions<D extends DType> = LoadNpyOptions & { readonly dtype?: D | undefined };

const LOAD_ONE_OPTIONS = new OptionSet<LoadOneOptions<DType>>({
  ...ALLOCATE_KINDS,
  ...TRANSFER_KINDS,
  dtype: DTYPE,
});

/** Bytes read at a time, between turns of the event loop. */
const PIECE_BYTES = 8 << 20;

/**
 * Loads an array into new device memory, in C order. With `dtype` the result has that element type.
 *
 * @throws NumpyError when it is not such a file, was cut off, or holds elements without a type here.
 * @throws TypeError when its elements are not of `dtype`.
 */
export async function loadNpy<D extends DType = DType>(
  path: FilePath,
  gpu: DeviceAllocator,
  options: LoadNpyOptions & { readonly dtype?: D | undefined } = {},
): Promise<DeviceBuffer<D>> {
  options = LOAD_ONE_OPTIONS.read(options, "loadNpy");
  const { dtype, onProgress, signal } = options;
  const stream = streamOn(contextOf(gpu, "load an array onto"), options, "memory");
  using reading = new FileReading(path);
  const { file, byteLength } = await reading.opened(signal);
  const header = readHeader(file, byteLength);
  if (dtype !== undefined && header.dtype !== dtype) {
    throw new TypeError(`Cannot load ${file.path} as ${dtype}: it is ${header.dtype}`);
  }
  const fileOffset = header.byteLength;
  const label = options.label ?? fileNameOf(file.path);
  const request = { gpu, header, stream, options: { ...options, label } };
  if (header.isBigEndian) {
    const read = () => readBytes(file, { fileOffset, byteLength: dataBytesOf(header), signal });
    return await toDevice(read, request) as DeviceBuffer<D>;
  }
  return await filled(request, async (buffer) => {
    const { span } = buffer;
    await uploadFrom({ span, stream, file, fileOffset, onProgress, signal });
  }) as DeviceBuffer<D>;
}

/** An array on its way to the GPU. */
export interface LoadRequest {
  readonly gpu: DeviceAllocator;
  readonly header: NpyHeader;
  readonly stream: CudaStream;
  readonly options: LoadNpyOptions;
}

/** Moves elements from the host to new device memory, which comes before reading them. */
export async function toDevice(
  read: () => Promise<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer>,
  request: LoadRequest,
): Promise<DeviceBuffer> {
  const { header, stream, options: { onProgress, signal } } = request;
  return await filled(request, async ({ span }) => {
    const bytes = await read();
    if (header.isBigEndian) swapBytes(bytes, elementBytes(header.dtype));
    const task = { direction: "upload", host: { memory: bytes }, isPlaced: true } as const;
    await transfer({ ...task, span, stream, onProgress, signal });
  });
}

/** Returns the bytes of the elements that a header announces. */
export function dataBytesOf({ dtype, count }: NpyHeader): number {
  return count * elementBytes(dtype);
}

/**
 * Reads a part of a file in pieces.
 *
 * @throws RangeError when the host has no memory for it.
 */
export async function readBytes(
  file: DiskFile,
  { fileOffset, byteLength, signal }: {
    readonly fileOffset: number;
    readonly byteLength: number;
    readonly signal: AbortSignal | undefined;
  },
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = allocateBits("uint8", byteLength);
  for (let at = 0; at < byteLength; at += PIECE_BYTES) {
    if (at > 0) await sleep(0);
    signal?.throwIfAborted();
    readWhole(file, bytes.subarray(at, at + PIECE_BYTES), fileOffset + at);
  }
  return bytes;
}

/**
 * Fills an array from a place in a file.
 *
 * @throws NumpyError when the file ends too early.
 */
export function readWhole(
  file: DiskFile,
  bytes: Uint8Array<ArrayBuffer>,
  fileOffset: number,
): Uint8Array<ArrayBuffer> {
  if (file.readSomeSync(bytes, fileOffset) === bytes.byteLength) return bytes;
  throw new NumpyError(file.path, "it was cut off");
}

function readHeader(file: DiskFile, byteLength: number): NpyHeader {
  const { path } = file;
  const start = new Uint8Array(Math.min(byteLength, NPY_START_BYTES));
  const headerBytes = headerBytesOf(path, readWhole(file, start, 0));
  if (headerBytes > byteLength) throw new NumpyError(path, "it ends within its header");
  const header = readNpyHeader(path, readWhole(file, new Uint8Array(headerBytes), 0));
  const expected = header.byteLength + dataBytesOf(header);
  if (byteLength >= expected) return header;
  throw new NumpyError(
    path,
    `it has ${byteLength} of the ${expected} bytes that its header announces`,
  );
}

/** Allocates an array and fills it; the GPU transposes one in Fortran order. */
async function filled(
  { gpu, header, stream, options }: LoadRequest,
  fill: (buffer: DeviceBuffer) => Promise<void>,
): Promise<DeviceBuffer> {
  const { dtype, isFortran } = header;
  const shape = toShape(header.shape);
  const isReversed = isFortran && shape.length > 1;
  const lying = isReversed ? shape.toReversed() : shape;
  const allocate = (sizes: readonly number[]): DeviceBuffer => {
    return gpu.alloc<DType>(dtype, sizes, allocationOf(options));
  };
  using undo = new DisposableStack();
  const buffer = undo.use(await takeAfterCollection(gpu.context, () => allocate(lying)));
  await fill(buffer);
  if (!isReversed) {
    undo.move();
    return buffer;
  }
  const straight = undo.use(allocate(shape));
  buffer.transpose().copyTo(straight, { stream });
  undo.move();
  buffer.dispose();
  return straight;
}

function swapBytes(bytes: Uint8Array, width: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + width <= bytes.byteLength; at += width) {
    if (width === 2) view.setUint16(at, view.getUint16(at), true);
    else if (width === 4) view.setUint32(at, view.getUint32(at), true);
    else view.setBigUint64(at, view.getBigUint64(at), true);
  }
}
