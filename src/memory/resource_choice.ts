// The resource of allocations that name none: the default, or that of the innermost `withResource()`.
// The choice holds across `await`, and for one device only.

import type { AsyncLocalStorage } from "node:async_hooks";
import type { Context } from "../driver/context.ts";
import { builtin } from "../words/builtin.ts";
import { warn } from "../words/warning.ts";
import { CudaAsyncMemoryResource } from "./cuda_async_memory_resource.ts";
import { CudaMemoryResource } from "./cuda_memory_resource.ts";
import { requireHostMemory } from "./host_bytes.ts";
import { type ContextOwner, type MemoryResource, requireResource } from "./memory_resource.ts";
import { PinnedHostMemoryResource } from "./pinned_host_memory_resource.ts";

/** Makes a resource for a device that is being opened. */
export type MakeResource = (owner: ContextOwner) => MemoryResource;

/** A resource that may be an adaptor, and may have to be disposed. */
interface StackedResource extends MemoryResource, Partial<Disposable> {
  readonly upstream?: MemoryResource;
}

/** The resource of one device for one kind of memory. */
export class ResourceChoice implements Disposable {
  readonly #default: MemoryResource;
  readonly #needsHost: boolean;
  /** Created when a function first runs with another resource; before, a choice costs nothing. */
  #scopes: AsyncLocalStorage<MemoryResource> | undefined;

  /**
   * Makes the default, and owns it.
   *
   * @throws TypeError when it belongs to another device, or the CPU must use its memory and cannot.
   */
  constructor(context: Context, make: MakeResource, { needsHost = false } = {}) {
    this.#needsHost = needsHost;
    this.#default = make({ context });
    this.#check(this.#default, context);
  }

  get current(): MemoryResource {
    return this.#scopes?.getStore() ?? this.#default;
  }

  /**
   * Runs a function with another resource, which also holds after each `await` in it, and nowhere
   * else.
   *
   * @throws TypeError when the resource belongs to another device, or the CPU must use its memory and
   *   cannot.
   */
  run<T>(resource: MemoryResource, body: () => T): T {
    this.#check(resource, this.#default.context);
    this.#scopes ??= new (builtin("node:async_hooks").AsyncLocalStorage)<MemoryResource>();
    return this.#scopes.run(resource, body);
  }

  #check(resource: MemoryResource, context: Context): void {
    requireResource(resource, "use");
    if (resource.context !== context) {
      throw new TypeError(
        `Cannot use a resource of device ${resource.context.ordinal} on device ` +
          `${context.ordinal}: make one with this device`,
      );
    }
    if (this.#needsHost) requireHostMemory(resource, "take page-locked memory");
  }

  /** Disposes the default and its upstreams; blocks in use stay valid. */
  [Symbol.dispose](): void {
    let resource: StackedResource | undefined = this.#default;
    while (resource !== undefined) {
      resource[Symbol.dispose]?.();
      resource = resource.upstream;
    }
  }
}

const told = new WeakSet<Context>();

/** Makes the resource for device memory; warns once for a context that has no pools. */
export function defaultDeviceResource({ context }: ContextOwner): MemoryResource {
  if (CudaAsyncMemoryResource.isSupported({ context })) {
    return new CudaAsyncMemoryResource({ context });
  }
  if (!told.has(context)) {
    told.add(context);
    warn(
      `device ${context.ordinal} has no stream-ordered memory pools, so each allocation ` +
        `is a cuMemAlloc, which is slower; new CachingResourceAdaptor() over it makes up for that`,
      { owner: context },
    );
  }
  return new CudaMemoryResource({ context });
}

/** Makes the resource for page-locked memory. */
export function defaultPinnedResource(owner: ContextOwner): MemoryResource {
  return new PinnedHostMemoryResource(owner);
}
