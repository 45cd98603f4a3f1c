// What wrappers of a memory resource share: they are one themselves, over the one they wrap.

import type { DisplayBundle } from "../cards/card.ts";
import type { Context } from "../context.ts";
import type { CudaStream } from "../stream.ts";
import type { MemoryResource } from "./memory_resource.ts";
import { showResource } from "./show_resource.ts";

/**
 * A resource over another, the upstream. Adaptors stack in any order; one that fails gives back what
 * its upstream gave, throws, and changes nothing.
 */
export abstract class ResourceAdaptor implements MemoryResource {
  readonly context: Context;
  readonly isDeviceAccessible: boolean;
  readonly isHostAccessible: boolean;
  /** Where its memory comes from. */
  readonly upstream: MemoryResource;

  /** Wraps a resource, and keeps it alive. */
  constructor(upstream: MemoryResource) {
    this.upstream = upstream;
    this.context = upstream.context;
    this.isDeviceAccessible = upstream.isDeviceAccessible;
    this.isHostAccessible = upstream.isHostAccessible;
  }

  /** Allocates memory, in the order of a stream. */
  abstract allocate(byteLength: number, stream: CudaStream): bigint;

  /** Takes memory back, in the order of a stream. */
  abstract deallocate(address: bigint, byteLength: number, stream: CudaStream): void;

  /** Shows the resource and its upstreams in a notebook. */
  [Symbol.for("Jupyter.display")](): DisplayBundle {
    return showResource(this);
  }
}
