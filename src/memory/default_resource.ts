// Where memory comes from when nobody says: the device's pool, or cuMemAlloc where there is none.

import type { Context } from "../context.ts";
import { CudaAsyncMemoryResource } from "./cuda_async_memory_resource.ts";
import { CudaMemoryResource } from "./cuda_memory_resource.ts";
import { PinnedHostMemoryResource } from "./pinned_host_memory_resource.ts";
import type { ContextOwner, MemoryResource } from "./memory_resource.ts";

const told = new WeakSet<Context>();

/** Makes the resource for device memory; says once for a context that it has no pools. */
export function defaultDeviceResource({ context }: ContextOwner): MemoryResource {
  if (CudaAsyncMemoryResource.isSupported(context)) return new CudaAsyncMemoryResource({ context });
  if (!told.has(context)) {
    told.add(context);
    console.warn(
      `vramkit: device ${context.ordinal} has no stream-ordered memory pools, so each allocation ` +
        `is a cuMemAlloc, which is slower; new CachingResourceAdaptor() over it makes up for that`,
    );
  }
  return new CudaMemoryResource({ context });
}

/** Makes the resource for page-locked memory. */
export function defaultPinnedResource(owner: ContextOwner): MemoryResource {
  return new PinnedHostMemoryResource(owner);
}
