// Many arrays in one call: into one new block or into buffers that are there, and back into arrays.

import type { ArrayOf, DType, HostArray } from "../dtype.ts";
import { dtypeOf } from "../dtype.ts";
import { takeAfterCollection } from "../memory/out_of_memory.ts";
import { CudaStream } from "../stream.ts";
import type { HostMemory } from "../transfer/host_memory.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { alignPacked } from "../transfer/pack.ts";
import type { AllocateOptions, DeviceAllocator } from "./device_allocator.ts";
import { DeviceBuffer } from "./device_buffer.ts";
import { type HostDestination, hostDestination, hostSource } from "./host_elements.ts";
import { type BuffersOf, PackedBuffers } from "./packed_buffers.ts";
import { type PackItem, transferPacked } from "./packed_transfer.ts";
import { toShape } from "./shape.ts";
import { TransferableBuffer, type TransferChoice } from "./transferable_buffer.ts";

/** How to upload many arrays into one new block. */
export interface UploadAllOptions extends AllocateOptions, TransferOptions {
  /** Left out here; with it the arrays go into buffers that are there. */
  readonly into?: undefined;
}

/** How to upload many arrays into buffers that are there. */
export interface UploadIntoOptions extends TransferChoice {
  /** The buffers, one for each array, of its size. */
  readonly into: Iterable<TransferableBuffer>;
}

/** How to download many buffers. */
export interface DownloadAllOptions extends TransferChoice {
  /** Memory of yours to fill, one for each buffer; fresh typed arrays when left out. */
  readonly into?: Iterable<HostMemory>;
}

/** The arrays that buffers become, one for each, of its element type. */
export type ArraysOf<B extends readonly TransferableBuffer[]> = {
  -readonly [I in keyof B]: B[I] extends TransferableBuffer<infer D> ? ArrayOf<D> : never;
};

/** Uploads arrays into one new block; see `gpu.uploadAll()`. */
export async function uploadAll<const A extends readonly HostArray[]>(
  arrays: A,
  options: UploadAllOptions & { readonly gpu: DeviceAllocator },
): Promise<PackedBuffers<BuffersOf<A>>> {
  const { gpu, stream = CudaStream.default(gpu.context), onProgress, signal } = options;
  const places = placesOf(arrays);
  const byteLength = places.at(-1)?.end ?? 0;
  const allocate = () => gpu.alloc("uint8", byteLength, options);
  const taken = takeAfterCollection(gpu.context, allocate);
  const block = taken instanceof Promise ? await taken : taken; // without a turn that others could take
  try {
    const { allocation } = block.span;
    const items = places.map(({ array, dtype, byteOffset }): PackItem => {
      const shape = toShape(array.length);
      const fields = { allocation, token: block, dtype, shape, byteOffset, isView: true };
      return itemOf(new DeviceBuffer<DType>(fields), array);
    });
    const transfer = { stream, onProgress, signal, ownsPadding: true };
    await transferPacked(items, { direction: "upload", ...transfer });
    const buffers: unknown = items.map(({ buffer }) => buffer);
    return new PackedBuffers(block, buffers as BuffersOf<A>);
  } catch (error) {
    block.dispose();
    throw error;
  }
}

/** Uploads arrays into buffers that are there; see `gpu.uploadAll()`. */
export async function uploadInto(
  arrays: readonly HostMemory[],
  options: UploadIntoOptions & { readonly gpu: DeviceAllocator },
): Promise<void> {
  const { gpu, stream = CudaStream.default(gpu.context), onProgress, signal } = options;
  const buffers = buffersOn(gpu, options.into, "upload");
  checkCount(arrays.length, buffers.length, "upload");
  const items = buffers.map((buffer, index) => itemOf(buffer, arrays[index]));
  await transferPacked(items, { direction: "upload", stream, onProgress, signal });
}

/** Downloads buffers into arrays; see `gpu.downloadAll()`. */
export async function downloadAll<const B extends readonly TransferableBuffer[]>(
  sources: B,
  options: DownloadAllOptions & { readonly gpu: DeviceAllocator },
): Promise<ArraysOf<B>> {
  const { gpu, stream = CudaStream.default(gpu.context), onProgress, signal } = options;
  const buffers = buffersOn(gpu, sources, "download");
  const into = options.into === undefined ? undefined : [...options.into];
  if (into !== undefined) checkCount(into.length, buffers.length, "download");
  const hosts = buffers.map((buffer, index): HostDestination => {
    const action = { toString: () => `download from ${buffer}` };
    return hostDestination(buffer, into?.[index], action);
  });
  const isFresh = into === undefined;
  const items = hosts.flatMap((host, index): PackItem[] => {
    const buffer = buffers[index];
    return buffer === undefined ? [] : [{ buffer, host, isFresh }];
  });
  await transferPacked(items, { direction: "download", stream, onProgress, signal });
  const arrays: unknown = hosts.map((host) => host.result());
  return arrays as ArraysOf<B>;
}

function itemOf(buffer: TransferableBuffer, array: HostMemory | undefined): PackItem {
  const action = { toString: () => `upload to ${buffer}` };
  if (array === undefined) throw new TypeError(`Cannot ${action}: there is no array for it`);
  return { buffer, host: hostSource(buffer, array, action) };
}

/** Where each array goes in a new block. */
function placesOf(arrays: readonly HostArray[]) {
  let end = 0;
  return arrays.map((array, index) => {
    const dtype = ArrayBuffer.isView(array) ? dtypeOf(array) : undefined;
    if (dtype === undefined) {
      throw new TypeError(`Cannot upload: array ${index} is not a typed array`);
    }
    const byteOffset = alignPacked(end);
    end = byteOffset + array.byteLength;
    return { array, dtype, byteOffset, end };
  });
}

function buffersOn(
  gpu: DeviceAllocator,
  buffers: Iterable<TransferableBuffer>,
  verb: string,
): TransferableBuffer[] {
  return Array.from(buffers, (buffer, index) => {
    if (!(buffer instanceof TransferableBuffer)) {
      throw new TypeError(`Cannot ${verb}: value ${index} is not a buffer`);
    }
    if (buffer.context === gpu.context) return buffer;
    throw new TypeError(
      `Cannot ${verb}: ${buffer} is on device ${buffer.deviceOrdinal}, not on ${gpu.context.ordinal}`,
    );
  });
}

function checkCount(arrayCount: number, bufferCount: number, verb: string): void {
  if (arrayCount === bufferCount) return;
  throw new RangeError(`Cannot ${verb} ${arrayCount} arrays with ${bufferCount} buffers`);
}
