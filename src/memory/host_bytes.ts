// A block of host memory as the CPU sees it: the memory itself, and empty once it is given back.

import type { Allocation } from "./allocation.ts";

/** Memory that the kit owns, as the CPU sees it. */
export interface OwnedHostBytes {
  /** The whole block. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What every typed array over the block refers to. */
  readonly memory: ArrayBuffer;
}

/**
 * Shows a block to the CPU without a copy, once for a block: the memory is emptied, and with it every
 * typed array over it, when the block is released.
 */
export function showToHost(
  allocation: Allocation,
  hostAddress = allocation.address,
): OwnedHostBytes {
  const pointer = Deno.UnsafePointer.create(hostAddress);
  const memory = pointer === null
    ? new ArrayBuffer(0)
    : Deno.UnsafePointerView.getArrayBuffer(pointer, allocation.byteLength);
  allocation.emptyOnRelease(memory);
  return { bytes: new Uint8Array(memory), memory };
}
