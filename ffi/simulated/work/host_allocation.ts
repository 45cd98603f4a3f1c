// Allocates real host memory for page-locked and managed blocks, and for pools on the host.
// Its address is real, so that code above can make its own ArrayBuffer over it.

import { refuse, requireValue } from "../errors.ts";
import { hostAddress } from "../model/address_space.ts";
import { Allocation, type AllocationKind } from "../model/allocation.ts";
import type { Context } from "../model/context.ts";
import { HostStorage } from "../model/host_storage.ts";
import type { Machine } from "../model/machine.ts";
import type { MemoryPool } from "../model/memory_pool.ts";

const PAGE_BYTES = 4096;

/** Allocates a block for a context, the current one unless given, and returns its address. */
export function allocateHost(
  machine: Machine,
  options: {
    byteLength: number;
    kind: AllocationKind;
    flags?: number;
    context?: Context;
    pool?: MemoryPool;
  },
): number {
  const { byteLength, context = machine.contexts.current } = options;
  requireValue(byteLength > 0);
  const bytes = pageAligned(byteLength);
  const address = hostAddress(bytes);
  const storage = new HostStorage(bytes);
  const id = machine.nextId();
  machine.memory.add(new Allocation({ address, byteLength }, { ...options, context, id, storage }));
  return address;
}

function pageAligned(byteLength: number): Uint8Array {
  const buffer = hostBuffer(byteLength + PAGE_BYTES);
  const start = hostAddress(buffer);
  return new Uint8Array(buffer, (PAGE_BYTES - start % PAGE_BYTES) % PAGE_BYTES, byteLength);
}

function hostBuffer(byteLength: number): ArrayBuffer {
  try {
    return new ArrayBuffer(byteLength);
  } catch (error) {
    if (error instanceof RangeError) return refuse("CUDA_ERROR_OUT_OF_MEMORY");
    throw error;
  }
}
