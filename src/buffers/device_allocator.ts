// What code below the device needs of it: the one call that makes device memory, and its options.

import type { DType } from "../dtype.ts";
import type { ContextOwner, MemoryResource } from "../memory/memory_resource.ts";
import type { CudaStream } from "../stream.ts";
import type { DeviceBuffer } from "./device_buffer.ts";
import type { Shape } from "./shape.ts";

/** How to allocate. */
export interface AllocateOptions {
  /** Where the memory comes from; the device's stream-ordered pool by default. */
  readonly resource?: MemoryResource;
  /** The stream that may use it first, and on which it is freed; the default stream otherwise. */
  readonly stream?: CudaStream;
  /** A name for tables, errors and plots. */
  readonly label?: string;
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
