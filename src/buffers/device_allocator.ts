// What code below the device needs of it: the one call that makes device memory, and its options.

import type { DType } from "../dtype.ts";
import { type ContextOwner, type MemoryResource, RESOURCE } from "../memory/memory_resource.ts";
import { OptionSet, TEXT } from "../options.ts";
import type { CudaStream } from "../stream.ts";
import { STREAM } from "../stream_choice.ts";
import type { DeviceBuffer } from "./device_buffer.ts";
import type { Shape } from "./shape.ts";

/** How to allocate. */
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

/** What the options of an allocation may be. */
export const ALLOCATE_KINDS = { resource: RESOURCE, stream: STREAM, label: TEXT } as const;

/** The options of calls that only allocate. */
export const ALLOCATE_OPTIONS: OptionSet<AllocateOptions> = new OptionSet(ALLOCATE_KINDS);

/** Those of a call's options that say how to allocate. */
export function allocationOf({ resource, stream, label }: AllocateOptions): AllocateOptions {
  return { resource, stream, label };
}

/** Makes device memory: a device, or what stands for one. */
export interface DeviceAllocator extends ContextOwner {
  /** Allocates device memory without setting a value. */
  alloc<D extends DType>(
    dtype: D,
    shape: number | Shape,
    options?: AllocateOptions,
  ): DeviceBuffer<D>;
}
