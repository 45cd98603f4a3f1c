// A memory resource that costs nothing and has no memory behind it: for the kit's own costs and counts.

import type { ContextOwner, MemoryResource } from "../../src/memory/memory_resource.ts";

/** Makes a resource whose addresses count up, and counts the blocks that were not given back. */
export function freeResource(
  { context }: ContextOwner,
): { resource: MemoryResource; counts: { held: number } } {
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
