// The base class of adaptors that keep freed memory for later requests.

import type { MemoryResource } from "../memory/memory_resource.ts";
import type { PinnedPool } from "../memory/pinned_pool.ts";
import { ResourceAdaptor } from "../memory/resource_adaptor.ts";
import { type Owner, unwatch, watch } from "../order/safety_net.ts";
import type { CudaStream } from "../order/stream.ts";

/** The state of such an adaptor; it never refers to the adaptor, so that one that is dropped is collected. */
export type BlockStore =
  & Owner
  & Pick<PinnedPool, "usedBytes" | "byteLength" | "allocate" | "deallocate" | "trim">;

/** Keeps freed memory for later requests; ends when it is disposed. */
export abstract class CacheAdaptor extends ResourceAdaptor implements Disposable {
  /** @ignore The memory in use and the memory kept. */
  protected readonly store: BlockStore;

  /** @ignore Starts with a store over the upstream, once that was checked. */
  constructor(upstream: MemoryResource, makeStore: (upstream: MemoryResource) => BlockStore) {
    super(upstream);
    this.store = makeStore(upstream);
    watch(this, this.store);
  }

  /** Hands out kept memory, or gets more from the upstream. */
  override allocate(byteLength: number, stream: CudaStream): bigint {
    return this.store.allocate(byteLength, stream);
  }

  /** Keeps memory for reuse once the work queued on `stream` is done. */
  override deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    this.store.deallocate(address, byteLength, stream);
  }

  /** Bytes handed out, rounded up for each block. */
  get usedBytes(): number {
    return this.store.usedBytes;
  }

  /** Bytes kept for reuse. */
  get cachedBytes(): number {
    return this.store.byteLength;
  }

  /** Tells whether it was disposed. */
  get disposed(): boolean {
    return this.store.released;
  }

  /**
   * Gives unused memory back to the upstream, until at most `keepBytes` are kept. A failure is
   * reported on the console and never thrown.
   */
  trim(keepBytes = 0): void {
    this.store.trim(keepBytes);
  }

  /**
   * Gives everything back; blocks in use stay valid, and go back to the upstream when they are
   * freed. A second call does nothing.
   */
  dispose(): void {
    if (!this.store.released) unwatch(this.store);
    this.store.release();
  }

  /** Same as {@link CacheAdaptor.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}
