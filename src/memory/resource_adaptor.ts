// The base class of adaptors: resources over another resource.

import type { CudaStream } from "../order/stream.ts";
import { describeValue } from "../words/format.ts";
import { CALLBACK } from "../words/options.ts";
import { BaseMemoryResource, requireBytes } from "./base_memory_resource.ts";
import {
  allocateFrom,
  deallocateTo,
  type MemoryResource,
  requireResource,
} from "./memory_resource.ts";

/**
 * A resource over another one, its upstream. Adaptors stack in any order; an adaptor that fails gives
 * back its upstream's memory, throws, and changes nothing. To write an adaptor of your own, extend
 * this class with `allocate()` and `deallocate()`.
 */
export abstract class ResourceAdaptor extends BaseMemoryResource {
  /** The resource that it wraps. */
  readonly upstream: MemoryResource;

  /**
   * Wraps a resource, and keeps it alive.
   *
   * @throws TypeError when the upstream is not a memory resource.
   */
  constructor(upstream: MemoryResource) {
    requireResource(upstream, `make a ${new.target.name} over`);
    super(upstream, upstream);
    this.upstream = upstream;
  }
}

/** @internal The base class of the kit's adaptors, which passes every call on. */
export abstract class PassingAdaptor extends ResourceAdaptor {
  /**
   * Allocates from the upstream.
   *
   * @throws RangeError for 0 bytes, and for parts of a byte.
   */
  allocate(byteLength: number, stream: CudaStream): bigint {
    requireBytes(byteLength);
    return allocateFrom(this.upstream, byteLength, stream);
  }

  /** Gives memory back to the upstream. */
  deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    deallocateTo(this.upstream, { address, byteLength, stream });
  }
}

/** Rejects a callback that is not a function when an adaptor is made, before memory runs out. */
export function requireFunction(value: unknown, what: string): void {
  if (CALLBACK.accepts(value)) return;
  throw new TypeError(`Cannot use ${describeValue(value)} as ${what}: expected a function`);
}
