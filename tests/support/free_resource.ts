// A memory resource that costs nothing and has no memory behind it: for the kit's own costs and counts.

import type { ContextOwner, MemoryResource } from "../../src/memory/memory_resource.ts";

/** A resource, and how many of its blocks are held. */
export interface FreeResource {
  /** Gives addresses that nothing may be read from. */
  readonly resource: MemoryResource;
  /** The number of blocks that are allocated and not given back. */
  readonly counts: { held: number };
}

/** Makes a resource whose addresses count up. */
export function freeResource({ context }: ContextOwner): FreeResource {
  const counts = { held: 0 };
  let address = 1n << 44n;
  const resource: MemoryResource = {
    context,
    isDeviceAccessible: true,
    isHostAccessible: false,
    allocate: () => {
      counts.held++;
      return address += 256n;
    },
    deallocate: () => void counts.held--,
  };
  return { resource, counts };
}
