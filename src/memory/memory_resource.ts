// The contract of everything that memory can come from; people write their own against it.

import { Context } from "../context.ts";
import { describeValue } from "../format.ts";
import type { OptionKind } from "../options.ts";
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

/** A memory resource; which device's is checked when it is used. */
export const RESOURCE: OptionKind = {
  expected: "a memory resource, with allocate(), deallocate() and a context, such as " +
    "gpu.memoryResource",
  accepts: (value) => {
    const given: Partial<MemoryResource> = Object(value);
    return typeof given.allocate === "function" && typeof given.deallocate === "function" &&
      given.context instanceof Context;
  },
};

/**
 * Checks what a call was given for a resource: without types it would only fail at the first
 * allocation, or free.
 *
 * @throws TypeError when it is none.
 */
export function requireResource(value: MemoryResource, action: string): void {
  if (RESOURCE.accepts(value)) return;
  throw new TypeError(
    `Cannot ${action} ${describeValue(value)}: expected ${RESOURCE.expected}`,
  );
}

/**
 * The context of a device, a buffer or a stream.
 *
 * @throws TypeError when the owner has none.
 */
export function contextOf(owner: ContextOwner, action: string): Context {
  const context: unknown = owner?.context;
  if (context instanceof Context) return context;
  throw new TypeError(
    `Cannot ${action} ${describeValue(owner)}: expected a device, such as CudaDevice.open()`,
  );
}
