// Page-locked host memory that is kept for reuse by requests of about the same size.

import type { ContextOwner } from "../memory/memory_resource.ts";
import { PinnedHostMemoryResource } from "../memory/pinned_host_memory_resource.ts";
import { PinnedPool } from "../memory/pinned_pool.ts";
import { type ByteSize, parseBytes } from "../words/format.ts";
import { OptionSet, SIZE } from "../words/options.ts";
import { CacheAdaptor } from "./cache_adaptor.ts";

/** Options of a pool of page-locked memory. */
export interface PinnedPoolOptions {
  /** Most bytes it keeps for reuse: bytes or `"2 GiB"`; no limit by default. */
  readonly keepSize?: ByteSize | undefined;
}

const POOL_OPTIONS = new OptionSet<PinnedPoolOptions>({ keepSize: SIZE });

/**
 * Page-locked host memory from a pool: pinning costs 0.1 ms or more for each MiB, handing a block
 * out again nearly nothing. A kept block serves requests of its size, in whole pages of 4 KiB, down
 * to four fifths of it. It is reused once the copies that used it are done.
 */
export class PooledPinnedHostMemoryResource extends CacheAdaptor {
  /** Starts empty, in a device's context. */
  constructor(owner: ContextOwner, options: PinnedPoolOptions = {}) {
    super(new PinnedHostMemoryResource(owner), (upstream) => {
      const { keepSize } = POOL_OPTIONS.read(options, "new PooledPinnedHostMemoryResource");
      const keepBytes = keepSize === undefined ? Infinity : parseBytes(keepSize, "keepSize");
      return new PinnedPool(upstream, { keepBytes });
    });
  }
}
