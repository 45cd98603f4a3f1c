// The interface through which code below the device allocates device memory, and its options.

import type { DType } from "../dtype.ts";
import { type ContextOwner, type MemoryResource, RESOURCE } from "../memory/memory_resource.ts";
import type { CudaStream } from "../order/stream.ts";
import { STREAM } from "../order/stream_choice.ts";
import { OptionSet, TEXT } from "../words/options.ts";
import type { DeviceBuffer } from "./device_buffer.ts";
import type { Shape } from "./shape.ts";

/** Options for allocating a buffer. */
export interface AllocateOptions {
  /** Resource that allocates the memory; the device's stream-ordered pool by default. */
  readonly resource?: MemoryResource | undefined;
  /**
   * Stream that uses the memory first and on which it is freed; the device's default stream by
   * default.
   */
  readonly stream?: CudaStream | undefined;
  /** Name shown in tables, errors and plots. */
  readonly label?: string | undefined;
}

/** The kinds of the options of an allocation. */
export const ALLOCATE_KINDS = { resource: RESOURCE, stream: STREAM, label: TEXT } as const;

/** Checks the options of calls that only allocate. */
export const ALLOCATE_OPTIONS: OptionSet<AllocateOptions> = new OptionSet(ALLOCATE_KINDS);

/** Returns those of a call's options that concern the allocation. */
export function allocationOf({ resource, stream, label }: AllocateOptions): AllocateOptions {
  return { resource, stream, label };
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
