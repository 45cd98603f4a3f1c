// Keeps freed memory and hands it out again: an allocation without a driver call.

import type { MemoryResource } from "../memory/memory_resource.ts";
import { parseLimit } from "../memory/out_of_memory.ts";
import { ResourceAdaptor } from "../memory/resource_adaptor.ts";
import { unwatch, watch } from "../order/safety_net.ts";
import type { CudaStream } from "../order/stream.ts";
import type { ByteSize } from "../words/format.ts";
import { OptionSet, SIZE } from "../words/options.ts";
import { BlockCache } from "./caching/block_cache.ts";

/** Options of a caching resource. */
export interface CachingOptions {
  /** Most bytes it takes from its upstream: bytes, `"2 GiB"`, `"40%"` of the device; no limit by default. */
  readonly limitSize?: ByteSize | undefined;
}

const CACHING_OPTIONS = new OptionSet<CachingOptions>({ limitSize: SIZE });

/**
 * Keeps freed memory, by stream, and cuts later allocations from it.
 *
 * A block that was freed on one stream is used on another only when the first is idle, or behind an
 * event when memory has run out. Requests are rounded up to 512 bytes and served from size classes
 * in constant time; free neighbours merge. Before the peak would rise, and when the upstream runs
 * out, segments that nothing uses go back to it.
 */
export class CachingResourceAdaptor extends ResourceAdaptor implements Disposable {
  readonly #cache: BlockCache;

  /** Starts empty; the first allocations come from the upstream, in pages of 2 MiB. */
  constructor(upstream: MemoryResource, options: CachingOptions = {}) {
    super(upstream);
    const { limitSize } = CACHING_OPTIONS.read(options, "new CachingResourceAdaptor");
    const limitBytes = limitSize === undefined
      ? Infinity
      : parseLimit(limitSize, this.context.totalBytes);
    this.#cache = new BlockCache({ upstream, limitBytes });
    watch(this, this.#cache);
  }

  /** Hands out kept memory, or gets more from the upstream. */
  override allocate(byteLength: number, stream: CudaStream): bigint {
    return this.#cache.allocate(byteLength, stream);
  }

  /** Keeps memory for later work of `stream`. */
  override deallocate(address: bigint, _byteLength: number, stream: CudaStream): void {
    this.#cache.deallocate(address, stream);
  }

  /** Bytes handed out, rounded up to 512 for each block. */
  get usedBytes(): number {
    return this.#cache.usedBytes;
  }

  /** The number of blocks that are handed out. */
  get usedCount(): number {
    return this.#cache.usedCount;
  }

  /** Bytes kept for reuse. */
  get cachedBytes(): number {
    return this.#cache.byteLength;
  }

  /**
   * Bytes of the largest kept block: a larger request needs new memory. Its share of `cachedBytes`
   * tells how fragmented the cache is. Looks at all kept blocks.
   */
  get largestCachedBytes(): number {
    return this.#cache.largestBytes;
  }

  /** Bytes taken from the upstream: used and kept together. */
  get reservedBytes(): number {
    return this.#cache.reservedBytes;
  }

  /** The most bytes that were taken from the upstream at once. */
  get peakReservedBytes(): number {
    return this.#cache.peakReservedBytes;
  }

  /** The number of allocations of the upstream. */
  get segmentCount(): number {
    return this.#cache.segmentCount;
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#cache.released;
  }

  /**
   * Gives unused memory back to the upstream, until at most `keepBytes` are kept. A segment with a
   * block in use stays. A failure is reported on the console and never thrown.
   */
  trim(keepBytes = 0): void {
    this.#cache.trim(keepBytes);
  }

  /**
   * Gives everything back; blocks in use stay valid, and go back to the upstream when they are
   * freed. A second call does nothing.
   */
  dispose(): void {
    if (!this.#cache.released) unwatch(this.#cache);
    this.#cache.release();
  }

  /** Same as {@link CachingResourceAdaptor.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}
