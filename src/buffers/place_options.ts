// The options of calls that make memory, and the request that every kind of buffer is made from.

import type { DType } from "../dtype.ts";
import { type MemoryResource, RESOURCE } from "../memory/memory_resource.ts";
import type { CudaStream } from "../order/stream.ts";
import { STREAM } from "../order/stream_choice.ts";
import { FLAG, OptionSet, TEXT } from "../words/options.ts";
import type { Shape } from "./shape.ts";

/** Options of calls that make memory: stream and label. */
export interface PlaceOptions {
  /** Stream that uses the memory first, and frees it; the device's default stream by default. */
  readonly stream?: CudaStream | undefined;
  /** Name shown in tables, errors and plots. */
  readonly label?: string | undefined;
}

/** The kinds of the options above. */
export const PLACE_KINDS = { stream: STREAM, label: TEXT } as const;

/** Checks the options above. */
export const PLACE_OPTIONS: OptionSet<PlaceOptions> = new OptionSet(PLACE_KINDS);

/** Options for allocating a buffer. */
export interface AllocateOptions extends PlaceOptions {
  /** Resource that allocates the memory; the device's stream-ordered pool by default. */
  readonly resource?: MemoryResource | undefined;
}

/** Options for allocating device memory. */
export interface DeviceAllocateOptions extends AllocateOptions {
  /** Lets other processes open the memory; see {@link GpuBuffer.share}. */
  readonly shareable?: boolean | undefined;
}

export const ALLOCATE_KINDS = { resource: RESOURCE, ...PLACE_KINDS } as const;

/** Checks the options of calls that only allocate. */
export const ALLOCATE_OPTIONS: OptionSet<AllocateOptions> = new OptionSet(ALLOCATE_KINDS);

/** The kinds of the options of an allocation of device memory. */
export const DEVICE_KINDS = { ...ALLOCATE_KINDS, shareable: FLAG } as const;

/** Checks the options of calls that only allocate device memory. */
export const DEVICE_OPTIONS: OptionSet<DeviceAllocateOptions> = new OptionSet(DEVICE_KINDS);

/** Returns those of a call's options that concern the allocation. */
export function allocationOf(options: DeviceAllocateOptions): DeviceAllocateOptions {
  const { resource, stream, label, shareable } = options;
  return { resource, stream, label, shareable };
}

/** Request for a new buffer. */
export interface BufferRequest<D extends DType> {
  readonly dtype: D;
  /** Size of each axis, or one length. */
  readonly shape: number | Shape;
  readonly stream: CudaStream;
  readonly resource: MemoryResource;
  /** Nobody has named the resource: while the stream is being captured, the graph has its own. */
  readonly isDefault?: boolean | undefined;
  readonly label?: string | undefined;
}
