// What wrappers of a memory resource share: they are one themselves, over the one they wrap.

import type { Context } from "../context.ts";
import type { CudaStream } from "../stream.ts";
import { type MemoryResource, requireResource } from "./memory_resource.ts";
import { describeResource } from "./describe_resource.ts";
import { describeValue } from "../format.ts";

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

  /**
   * Wraps a resource, and keeps it alive.
   *
   * @throws TypeError when the upstream is no resource.
   */
  constructor(upstream: MemoryResource) {
    requireResource(upstream, `make a ${new.target.name} over`);
    this.upstream = upstream;
    this.context = upstream.context;
    this.isDeviceAccessible = upstream.isDeviceAccessible;
    this.isHostAccessible = upstream.isHostAccessible;
  }

  /** Allocates memory, in the order of a stream. */
  abstract allocate(byteLength: number, stream: CudaStream): bigint;

  /** Takes memory back, in the order of a stream. */
  abstract deallocate(address: bigint, byteLength: number, stream: CudaStream): void;

  /** Shows the resource and its upstreams on a console, with their counters. */
  [Symbol.for("Deno.customInspect")](): string {
    return describeResource(this);
  }
}

/** Refuses what cannot be called, when an adaptor is made rather than when memory runs out. */
export function requireFunction(value: unknown, what: string): void {
  if (typeof value === "function") return;
  throw new TypeError(`Cannot use ${describeValue(value)} as ${what}: expected a function`);
}
