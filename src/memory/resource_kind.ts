// The kind of memory that a resource gives, for the ledger: any resource may stand where device memory
// is usual. And its source under all adaptors.

import type { LiveKind } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { CudaAsyncMemoryResource } from "./cuda_async_memory_resource.ts";
import { ManagedMemoryResource } from "./managed_memory_resource.ts";
import { MappedHostMemoryResource } from "./mapped_host_memory_resource.ts";
import type { MemoryResource } from "./memory_resource.ts";
import { ResourceAdaptor } from "./resource_adaptor.ts";

/** The kind of memory of a resource, under any adaptors. */
export function kindOf(resource: MemoryResource): LiveKind {
  if (resource instanceof CudaAsyncMemoryResource) return "device"; // the usual one, at once
  const source = sourceOf(resource);
  if (source instanceof ManagedMemoryResource) return "managed";
  if (source instanceof MappedHostMemoryResource) return "mapped";
  return resource?.isHostAccessible ? "pinned" : "device";
}

/** The CPU's address of memory whose device address a resource gave. */
export function hostAddressOf(resource: MemoryResource, address: bigint): bigint {
  const source = sourceOf(resource);
  return source instanceof MappedHostMemoryResource ? source.hostAddress(address) : address;
}

/** The resource under all adaptors. */
export function sourceOf(resource: MemoryResource): MemoryResource {
  let source = resource;
  while (source instanceof ResourceAdaptor) source = source.upstream;
  return source;
}

/**
 * Lets another device reach the memory of a resource, where that is for the kit to decide: in pools of
 * the driver's, under any adaptors. Tells whether it can.
 */
export function openToPeer(resource: MemoryResource, peer: Context): boolean {
  const source = sourceOf(resource);
  if (source instanceof CudaAsyncMemoryResource) return source.openTo(peer);
  return source.isDeviceAccessible;
}
