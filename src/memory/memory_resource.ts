// The contract of everything that memory can come from; people write their own against it.

import type { Context } from "../context.ts";
import type { CudaStream } from "../stream.ts";

/**
 * Where memory comes from.
 *
 * `allocate` returns the address of at least `byteLength` bytes, aligned to 256, that work queued
 * on `stream` afterwards may use. `deallocate` takes it back once the work queued on `stream` so far
 * is done; where the CPU can use the memory, buffers call it only after that work, because the driver
 * then frees at once. Neither is called with 0 bytes. A resource that fails throws and changes
 * nothing.
 */
export interface MemoryResource {
  /** The context in which its memory can be used. */
  readonly context: Context;
  /** Whether the GPU can use its memory. */
  readonly isDeviceAccessible: boolean;
  /** Whether the CPU can use its memory. */
  readonly isHostAccessible: boolean;
  /** Allocates memory, in the order of a stream. */
  allocate(byteLength: number, stream: CudaStream): bigint;
  /** Takes memory back, in the order of a stream. */
  deallocate(address: bigint, byteLength: number, stream: CudaStream): void;
}

/** Anything that belongs to a context: a device, a buffer, a stream. */
export interface ContextOwner {
  /** The context it belongs to. */
  readonly context: Context;
}

/** Names what was given for a resource and is none, for messages. */
export function nameOfValue(value: unknown): string {
  if (typeof value === "function") return `class ${value.name}`;
  if (typeof value !== "object" || value === null) return String(value);
  return value.constructor?.name ?? "an object";
}
