// Keeps freed memory and hands it out again: an allocation without a driver call.

import type { MemoryResource } from "../memory/memory_resource.ts";
import { parseLimit } from "../memory/out_of_memory.ts";
import type { ByteSize } from "../words/format.ts";
import { OptionSet, SIZE } from "../words/options.ts";
import { CacheAdaptor } from "./cache_adaptor.ts";
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
export class CachingResourceAdaptor extends CacheAdaptor {
  /** Starts empty; the first allocations come from the upstream, in pages of 2 MiB. */
  constructor(upstream: MemoryResource, options: CachingOptions = {}) {
    super(upstream, ({ context: { totalBytes } }) => {
      const { limitSize } = CACHING_OPTIONS.read(options, "new CachingResourceAdaptor");
      const limitBytes = limitSize === undefined ? Infinity : parseLimit(limitSize, totalBytes);
      return new BlockCache(upstream, limitBytes);
    });
  }

  /** The number of blocks that are handed out. */
  get usedCount(): number {
    return this.#cache.usedCount;
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
    return this.#cache.segments.currentBytes;
  }

  /** The most bytes that were taken from the upstream at once. */
  get peakReservedBytes(): number {
    return this.#cache.segments.peakBytes;
  }

  /** The number of allocations of the upstream. */
  get segmentCount(): number {
    return this.#cache.segments.currentCount;
  }

  get #cache(): BlockCache {
    return this.store as BlockCache;
  }
}
