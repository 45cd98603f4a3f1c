// Pools of the driver's give other devices no access by themselves; copies between devices then go
// through the host's memory, at a tenth of the speed of the link between them.

import type { Context } from "../context.ts";
import { CudaAsyncMemoryResource } from "./cuda_async_memory_resource.ts";
import type { MemoryResource } from "./memory_resource.ts";
import { sourceOf } from "./resource_kind.ts";

/**
 * Lets another device reach the memory of a resource, where that is for the kit to decide: in pools of
 * the driver's, under any adaptors. Tells whether it can.
 */
export function openToPeer(resource: MemoryResource, peer: Context): boolean {
  const source = sourceOf(resource);
  if (source instanceof CudaAsyncMemoryResource) return source.openTo(peer);
  return source.isDeviceAccessible;
}
