// What wrappers of a memory resource share: they are one themselves, over the one they wrap.

import { BaseMemoryResource } from "./base_memory_resource.ts";
import { type MemoryResource, requireResource } from "./memory_resource.ts";
import { describeValue } from "../format.ts";

/**
 * A resource over another, the upstream. Adaptors stack in any order; one that fails gives back what
 * its upstream gave, throws, and changes nothing.
 */
export abstract class ResourceAdaptor extends BaseMemoryResource {
  /** Where its memory comes from. */
  readonly upstream: MemoryResource;

  /**
   * Wraps a resource, and keeps it alive.
   *
   * @throws TypeError when the upstream is no resource.
   */
  constructor(upstream: MemoryResource) {
    requireResource(upstream, `make a ${new.target.name} over`);
    super(upstream, upstream);
    this.upstream = upstream;
  }
}

/** Refuses what cannot be called, when an adaptor is made rather than when memory runs out. */
export function requireFunction(value: unknown, what: string): void {
  if (typeof value === "function") return;
  throw new TypeError(`Cannot use ${describeValue(value)} as ${what}: expected a function`);
}
