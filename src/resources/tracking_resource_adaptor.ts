// Remembers every allocation that was not given back, with the code that made it, to find leaks.

import { OriginFinder } from "../accounting/origin.ts";
import { describeResource } from "../memory/describe_resource.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { PassingAdaptor } from "../memory/resource_adaptor.ts";
import type { CudaStream } from "../order/stream.ts";
import { formatAddress, formatBytes } from "../words/format.ts";
import { FLAG, OptionSet } from "../words/options.ts";
import { warn } from "../words/warning.ts";

/** Options of a tracking adaptor. */
export interface TrackingOptions {
  /** Keeps the stack of each allocation, about ten microseconds each; true by default. */
  readonly captureStacks?: boolean | undefined;
}

const TRACKING_OPTIONS = new OptionSet<TrackingOptions>({ captureStacks: FLAG });

/** One allocation that was not given back. */
export interface TrackedAllocation {
  /** Its address in hexadecimal. */
  readonly address: string;
  /** Its size in bytes. */
  readonly byteLength: number;
  /** The time at which it was made, in milliseconds since 1970. */
  readonly createdAt: number;
  /** The caller's places on the stack, nearest first; empty when stacks are not kept. */
  readonly stack: readonly string[];
}

/** Keeps a list of live allocations; a free that does not match it is reported and not counted. */
export class TrackingResourceAdaptor extends PassingAdaptor {
  readonly #origins = new OriginFinder();
  readonly #live = new Map<bigint, TrackedAllocation>();
  #allocatedBytes = 0;

  /** Tracks the allocations of a resource. */
  constructor(upstream: MemoryResource, options: TrackingOptions = {}) {
    super(upstream);
    options = TRACKING_OPTIONS.read(options, "new TrackingResourceAdaptor");
    this.#origins.detail = options.captureStacks === false ? "none" : "stack";
  }

  /** Bytes that were not given back. */
  get allocatedBytes(): number {
    return this.#allocatedBytes;
  }

  /** Lists the allocations that were not given back, oldest first. */
  outstanding(): TrackedAllocation[] {
    return [...this.#live.values()];
  }

  /** Allocates and remembers. */
  override allocate(byteLength: number, stream: CudaStream): bigint {
    const address = super.allocate(byteLength, stream);
    const createdAt = Date.now();
    const stack = this.#origins.find(byteLength, createdAt) ?? [];
    this.#live.set(address, { address: formatAddress(address), byteLength, createdAt, stack });
    this.#allocatedBytes += byteLength;
    return address;
  }

  /** Gives memory back and forgets it; warns when it is unknown here or has another size. */
  override deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    super.deallocate(address, byteLength, stream);
    const known = this.#live.get(address);
    if (known?.byteLength !== byteLength) {
      const size = known === undefined ? "was not allocated here" : `has ${known.byteLength} bytes`;
      warn(`${formatAddress(address)} was given back with ${byteLength} bytes, but it ${size}`, {
        owner: this.context,
        about: this,
      });
    }
    this.#live.delete(address);
    this.#allocatedBytes -= known?.byteLength ?? 0;
  }

  /** Lists the allocations that were not given back, one line each, with the stacks below. */
  override toString(): string {
    const lines = this.outstanding().map(({ address, byteLength, stack }) =>
      [`${address} ${formatBytes(byteLength)}`, ...stack.map((place) => `    ${place}`)].join("\n")
    );
    return [...lines, `${lines.length} outstanding, ${formatBytes(this.#allocatedBytes)}`]
      .join("\n");
  }

  /** Returns the text that the console shows: the resource, its upstreams, and the list. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${describeResource(this)}\n${this}`;
  }
}
