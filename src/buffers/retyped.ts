// The kinds of buffers, listed once: the type of a buffer of the same kind with other elements.

import type { DType } from "../dtype.ts";
import type { DeviceBuffer } from "./device_buffer.ts";
import type { GpuBuffer } from "./gpu_buffer.ts";
import type { GrowableBuffer } from "./growable_buffer.ts";
import type { HostBuffer } from "./host_buffer.ts";
import type { LazyBuffer } from "./lazy_buffer.ts";
import type { ManagedBuffer } from "./managed_buffer.ts";
import type { MappedBuffer } from "./mapped_buffer.ts";
import type { PinnedBuffer } from "./pinned_buffer.ts";
import type { RegisteredBuffer } from "./registered_buffer.ts";
import type { StagedBuffer } from "./staged_buffer.ts";

/** The name of a field that only types have: the kind of a buffer. */
export declare const BUFFER_KIND: unique symbol;

/**
 * The buffer of the kind of `B` whose elements are of type `E`. Kinds whose names begin alike have a base
 * class in common.
 */
export type Retyped<B extends { readonly [BUFFER_KIND]: string }, E extends DType> = {
  readonly [kind: string]: GpuBuffer<E>;
  readonly [kind: `host ${string}`]: HostBuffer<E>;
  readonly [kind: `host pinned${string}`]: PinnedBuffer<E>;
  readonly "host pinned mapped": MappedBuffer<E>;
  readonly "host managed": ManagedBuffer<E>;
  readonly "host registered": RegisteredBuffer<E>;
  readonly device: DeviceBuffer<E>;
  readonly growable: GrowableBuffer<E>;
  readonly lazy: LazyBuffer<E>;
  readonly staged: StagedBuffer<E>;
}[B[typeof BUFFER_KIND]];
