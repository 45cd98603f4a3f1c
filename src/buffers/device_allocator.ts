// The interface through which code below the device allocates device memory, and its options.

import type { DType } from "../dtype.ts";
import { type ContextOwner, type MemoryResource, RESOURCE } from "../memory/memory_resource.ts";
import { FLAG, OptionSet } from "../words/options.ts";
import type { DeviceBuffer } from "./device_buffer.ts";
import { PLACE_KINDS, type PlaceOptions } from "./place_options.ts";
import type { Shape } from "./shape.ts";

/** Options for allocating a buffer. */
export interface AllocateOptions extends PlaceOptions {
  /** Resource that allocates the memory; the device's stream-ordered pool by default. */
  readonly resource?: MemoryResource | undefined;
}

/** Options for allocating device memory. */
export interface DeviceAllocateOptions extends AllocateOptions {
  /** Other processes can open the memory; see {@link GpuBuffer.share}. */
  readonly shareable?: boolean | undefined;
}

/** The kinds of the options of an allocation. */
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

/** An object that allocates device memory: a device, or a stand-in for one. */
export interface DeviceAllocator extends ContextOwner {
  /** Allocates device memory; the elements keep whatever was there before. */
  alloc<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options?: AllocateOptions,
  ): DeviceBuffer<D>;
}
