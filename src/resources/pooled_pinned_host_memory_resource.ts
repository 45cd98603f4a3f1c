// Page-locked host memory that is kept for reuse by requests of about the same size.

import type { ContextOwner } from "../memory/memory_resource.ts";
import { PinnedHostMemoryResource } from "../memory/pinned_host_memory_resource.ts";
import { PinnedPool } from "../memory/pinned_pool.ts";
import { ResourceAdaptor } from "../memory/resource_adaptor.ts";
import { unwatch, watch } from "../order/safety_net.ts";
import type { CudaStream } from "../order/stream.ts";
import { type ByteSize, parseBytes } from "../words/format.ts";
import { OptionSet, SIZE } from "../words/options.ts";

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
export class PooledPinnedHostMemoryResource extends ResourceAdaptor implements Disposable {
  readonly #pool: PinnedPool;

  /** Starts empty, in a device's context. */
  constructor(owner: ContextOwner, options: PinnedPoolOptions = {}) {
    super(new PinnedHostMemoryResource(owner));
    const { keepSize } = POOL_OPTIONS.read(options, "new PooledPinnedHostMemoryResource");
    const keepBytes = keepSize === undefined ? Infinity : parseBytes(keepSize, "keepSize");
    this.#pool = new PinnedPool(this.upstream, { keepBytes, isContextOwned: false });
    watch(this, this.#pool);
  }

  /** Hands out a kept block, or pins a new one. */
  override allocate(byteLength: number, stream: CudaStream): bigint {
    return this.#pool.allocate(byteLength, stream);
  }

  /** Keeps a block for reuse once the work queued on `stream` is done. */
  override deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    this.#pool.deallocate(address, byteLength, stream);
  }

  /** Bytes of the blocks handed out, in whole pages. */
  get usedBytes(): number {
    return this.#pool.usedBytes;
  }

  /** Bytes kept for reuse. */
  get cachedBytes(): number {
    return this.#pool.byteLength;
  }

  /** Tells whether it was disposed. */
  get disposed(): boolean {
    return this.#pool.released;
  }

  /** Unpins unused blocks, until at most `keepBytes` are kept. */
  trim(keepBytes = 0): void {
    this.#pool.trim(keepBytes);
  }

  /** Unpins all unused blocks; blocks in use stay valid, and are unpinned when they are freed. */
  dispose(): void {
    if (!this.#pool.released) unwatch(this.#pool);
    this.#pool.release();
  }

  /** Same as {@link PooledPinnedHostMemoryResource.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}
