// Transfers of many arrays in one call: into one new block or existing buffers, and back into
// arrays.

import { type ArrayOf, type DType, dtypeOf, elementBytes, type HostArray } from "../dtype.ts";
import { bytesOf, type HostMemory, moving } from "../memory/host_memory.ts";
import { takeAfterCollection } from "../memory/out_of_memory.ts";
import { streamOn } from "../order/stream_choice.ts";
import { ArrayPlace, type ArrayUse } from "../transfer/array_uses.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { alignPacked } from "../transfer/pieces.ts";
import { TRANSFER_KINDS, type TransferChoice } from "../transfer/transfer_choice.ts";
import { describeValue, formatCount } from "../words/format.ts";
import { isIterable, isRecord, type OptionKind, OptionSet } from "../words/options.ts";
import { Parts } from "../words/parts.ts";
import type { DeviceAllocator } from "./device_buffer.ts";
import { DeviceBuffer } from "./device_buffer.ts";
import { GpuBuffer } from "./gpu_buffer.ts";
import { hostDestination, hostSource } from "./host_elements.ts";
import { type BuffersOf, PackedBuffers } from "./packed_buffers.ts";
import { type PackItem, transferPacked } from "./packed_transfer.ts";
import { ALLOCATE_KINDS, type AllocateOptions, allocationOf } from "./place_options.ts";
import { toShape } from "./shape.ts";

/** Accepts iterables: a list, a set, a generator; rejects strings. */
const ITERABLE: OptionKind = {
  expected: "a list",
  accepts: isIterable,
};

/** Options for uploading many arrays into one new block. */
export interface UploadAllOptions extends AllocateOptions, TransferOptions {
  /** Left out here; when given, the arrays go into existing buffers. */
  readonly into?: undefined;
}

/** Options for uploading many arrays into existing buffers. */
export interface UploadIntoOptions extends TransferChoice {
  /** The buffers, one of the right size for each array. */
  readonly into: Iterable<GpuBuffer>;
}

/** Checks the options of either kind of upload. */
export const UPLOAD_ALL_OPTIONS: OptionSet<
  Omit<UploadAllOptions, "into"> & { readonly into?: UploadIntoOptions["into"] | undefined }
> = new OptionSet({
  ...ALLOCATE_KINDS,
  ...TRANSFER_KINDS,
  into: ITERABLE,
});

/** Checks the options of an upload into existing buffers. */
export const UPLOAD_INTO_OPTIONS: OptionSet<UploadIntoOptions> = new OptionSet({
  ...TRANSFER_KINDS,
  into: ITERABLE,
});

/** Options for downloading many buffers. */
export interface DownloadAllOptions extends TransferChoice {
  /** Memory to fill, one for each buffer; new typed arrays when left out. */
  readonly into?: Iterable<HostMemory> | undefined;
}

/** Checks the options above. */
export const DOWNLOAD_ALL_OPTIONS: OptionSet<DownloadAllOptions> = new OptionSet({
  ...TRANSFER_KINDS,
  into: ITERABLE,
});

/** The typed arrays of a list of buffers, one for each buffer, of its element type. */
export type ArraysOf<B extends readonly GpuBuffer[]> = {
  -readonly [I in keyof B]: B[I] extends GpuBuffer<infer D> ? ArrayOf<D> : never;
};

/** Uploads arrays into one new block; see `gpu.uploadAll()`. */
export async function uploadAll<const A extends readonly HostArray[]>(
  arrays: A,
  options: UploadAllOptions & { readonly gpu: DeviceAllocator },
): Promise<PackedBuffers<BuffersOf<A>>> {
  const { gpu, onProgress, signal } = options;
  const stream = streamOn(gpu.context, options, "memory");
  const places = placesOf(listOf(arrays, "upload", "typed arrays"));
  const byteLength = places.at(-1)?.end ?? 0;
  const allocate = () => gpu.alloc("uint8", byteLength, allocationOf(options));
  const taken = takeAfterCollection(gpu.context, allocate);
  const reads = places.map(({ array }): ArrayUse => {
    return { memory: bytesOf(array, "upload"), access: "read" };
  });
  using place = taken instanceof Promise ? new ArrayPlace(reads, stream) : undefined;
  const block = taken instanceof Promise ? await taken : taken; // without a turn that others could take
  try {
    if (place !== undefined) await place.isFirst;
    const { allocation } = block.span;
    const items = places.map(({ array, dtype, byteOffset }): PackItem => {
      const shape = toShape(bytesOf(array, "upload").byteLength / elementBytes(dtype));
      const fields = { allocation, owner: block, dtype, shape, byteOffset };
      return itemOf(new DeviceBuffer<DType>(new Parts(fields)), array);
    });
    const way = { direction: "upload", ownsPadding: true, isPlaced: place !== undefined } as const;
    await transferPacked(items, { ...way, stream, onProgress, signal });
    const buffers: unknown = items.map(({ buffer }) => buffer);
    return new PackedBuffers(new Parts({ block, buffers: buffers as BuffersOf<A> }));
  } catch (error) {
    block.dispose();
    throw error;
  }
}

/** Uploads arrays into existing buffers; see `gpu.uploadAll()`. */
export async function uploadInto(
  arrays: readonly HostMemory[],
  options: UploadIntoOptions & { readonly gpu: DeviceAllocator },
): Promise<void> {
  const { gpu, onProgress, signal } = options;
  const stream = streamOn(gpu.context, options, "memory");
  const given = listOf(arrays, "upload", "arrays");
  const buffers = buffersOn(gpu, options.into, "upload");
  checkCount(given.length, buffers.length, "upload");
  const items = buffers.map((buffer, index) => itemOf(buffer, given[index]));
  await transferPacked(items, { direction: "upload", stream, onProgress, signal });
}

/** Downloads buffers into arrays; see `gpu.downloadAll()`. */
export async function downloadAll<const B extends readonly GpuBuffer[]>(
  sources: B,
  options: DownloadAllOptions & { readonly gpu: DeviceAllocator },
): Promise<ArraysOf<B>> {
  const { gpu, onProgress, signal } = options;
  const stream = streamOn(gpu.context, options, "memory");
  const buffers = buffersOn(gpu, listOf(sources, "download", "buffers"), "download");
  const into = options.into === undefined ? undefined : [...options.into];
  if (into !== undefined) checkCount(into.length, buffers.length, "download");
  const items = buffers.map((buffer, index) => {
    return {
      buffer,
      host: hostDestination(buffer, into?.[index], moving("download from", buffer)),
    };
  });
  await transferPacked(items, { direction: "download", stream, onProgress, signal });
  const arrays: unknown = items.map(({ host }) => host.result());
  return arrays as ArraysOf<B>;
}

function itemOf(buffer: GpuBuffer, array: HostMemory | undefined): PackItem {
  const action = moving("upload to", buffer);
  if (array === undefined) throw new TypeError(`Cannot ${action}: there is no array for it`);
  return { buffer, host: hostSource(buffer, array, action) };
}

/** Returns the place of each array in a new block. */
function placesOf(arrays: readonly HostArray[]) {
  let end = 0;
  return arrays.map((array, index) => {
    const dtype = ArrayBuffer.isView(array) ? dtypeOf(array) : undefined;
    if (dtype === undefined) {
      throw new TypeError(
        `Cannot upload: array ${index} is not a typed array but ${describeValue(array)}`,
      );
    }
    const byteOffset = alignPacked(end);
    end = byteOffset + bytesOf(array, "upload").byteLength;
    return { array, dtype, byteOffset, end };
  });
}

function buffersOn(gpu: DeviceAllocator, buffers: Iterable<GpuBuffer>, verb: string): GpuBuffer[] {
  return Array.from(buffers, (buffer, index) => {
    if (!(buffer instanceof GpuBuffer)) {
      throw new TypeError(
        `Cannot ${verb}: value ${index} is not a buffer but ${describeValue(buffer)}`,
      );
    }
    if (buffer.context === gpu.context) return buffer;
    throw new TypeError(
      `Cannot ${verb}: ${buffer} is on device ${buffer.deviceOrdinal}, not on ${gpu.context.ordinal}`,
    );
  });
}

function listOf<T>(values: Iterable<T>, verb: string, what: string): T[] {
  const isOne = ArrayBuffer.isView(values);
  if (ITERABLE.accepts(values) && !isOne) return [...values];
  const fix = isRecord(values)
    ? ", such as Object.values() gives of it"
    : isOne
    ? ", as [array]"
    : "";
  throw new TypeError(`Cannot ${verb} ${describeValue(values)}: expected a list of ${what}${fix}`);
}

function checkCount(arrayCount: number, bufferCount: number, verb: string): void {
  if (arrayCount === bufferCount) return;
  const [arrays, buffers] = [formatCount(arrayCount, "array"), formatCount(bufferCount, "buffer")];
  throw new RangeError(`Cannot ${verb} ${arrays} with ${buffers}: expected as many of each`);
}
