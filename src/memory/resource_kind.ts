// The kind of memory that a resource gives, found below all its adaptors: the ledger needs it, because a
// program may pass any resource in place of one for device memory.

import type { LiveKind } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { BaseMemoryResource } from "./base_memory_resource.ts";
import { CudaAsyncMemoryResource } from "./cuda_async_memory_resource.ts";
import { ManagedMemoryResource } from "./managed_memory_resource.ts";
import { MappedHostMemoryResource } from "./mapped_host_memory_resource.ts";
import type { MemoryResource } from "./memory_resource.ts";
import { ResourceAdaptor } from "./resource_adaptor.ts";

export function kindOf(resource: MemoryResource): LiveKind {
  if (resource instanceof CudaAsyncMemoryResource) return "device"; // the usual one, at once
  const source = sourceOf(resource);
  if (source instanceof ManagedMemoryResource) return "managed";
  if (source instanceof MappedHostMemoryResource) return "mapped";
  return resource?.isHostAccessible ? "pinned" : "device";
}

/** Returns the CPU's address of memory whose device address a resource gave. */
export function hostAddressOf(resource: MemoryResource, address: bigint): bigint {
  const source = sourceOf(resource);
  return source instanceof MappedHostMemoryResource ? source.hostAddress(address) : address;
}

/** Returns the resource under all adaptors. */
export function sourceOf(resource: MemoryResource): MemoryResource {
  let source = resource;
  while (source instanceof ResourceAdaptor) source = source.upstream;
  return source;
}

/**
 * Gives another device access to the memory of a resource if that takes a call, as for the driver's
 * pools below any adaptors. Returns whether the device can reach it.
 */
export function openToPeer(resource: MemoryResource, peer: Context): boolean {
  const source = sourceOf(resource);
  if (source instanceof CudaAsyncMemoryResource) return source.openTo(peer);
  return source.isDeviceAccessible;
}

/**
 * Returns whether the host may use new memory of a resource that it reaches at once. An adaptor, or a program's own
 * resource, may hand out memory that work on its stream still uses.
 */
export function isReadyForHost(resource: MemoryResource): boolean {
  return resource instanceof BaseMemoryResource && !(resource instanceof ResourceAdaptor);
}
