// Freed blocks of page-locked memory, kept for requests of about their size: pinning a GiB takes a
// quarter of a second, so blocks are worth keeping, and pinned memory is too scarce to pin more than
// requested.

import { roundUp } from "../../ffi/alignment.ts";
import { pageBytes } from "../../ffi/host.ts";
import type { MemoryCache } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { tryRelease } from "../driver/release.ts";
import type { Owner } from "../order/safety_net.ts";
import { type CudaStream, defaultStreamOf } from "../order/stream.ts";
import { DisposedError } from "../words/errors.ts";
import { checkSize, formatAddress } from "../words/format.ts";
import { requireBytes } from "./base_memory_resource.ts";
import type { MemoryResource } from "./memory_resource.ts";
import { takeAgain } from "./out_of_memory.ts";
import { PinnedHostMemoryResource } from "./pinned_host_memory_resource.ts";
import { ResourceAdaptor } from "./resource_adaptor.ts";
import { whenPassed } from "./when_passed.ts";

/** Page-locked memory is lost to other programs, so a context's pool keeps at most this. */
const CONTEXT_KEEP_BYTES = 2 * 2 ** 30;

/** A kept block may exceed a request by this factor, so that a few serve varying sizes. */
const MAX_LARGER = 1.25;

const pools = new WeakMap<Context, PinnedPool>();

/** A pool of page-locked memory; whoever makes one releases it. */
export class PinnedPool extends ResourceAdaptor implements MemoryCache, Owner {
  readonly name = "pinned pool";
  readonly kind = "pinned";
  readonly #keepBytes: number;
  readonly #isContextOwned: boolean;
  /** Sizes of the blocks in use, and of those that the GPU still needs. */
  readonly #sizes = new Map<bigint, number>();
  /** Free blocks by size; the sizes that were freed first come first. */
  readonly #free = new Map<number, bigint[]>();
  #usedBytes = 0;
  #pendingBytes = 0;
  #freeBytes = 0;
  #released = false;

  /**
   * Starts empty, listed as a cache of its context, and keeps at most `keepBytes`. A pool that ends with
   * its context must not keep the context alive.
   */
  constructor(upstream: MemoryResource, { keepBytes = Infinity, isContextOwned = false } = {}) {
    super(upstream);
    this.#keepBytes = keepBytes;
    this.#isContextOwned = isContextOwned;
    if (!isContextOwned) this.context.retain();
    this.context.ledger.caches.add(this);
  }

  /** Makes a pool that ends with its context. */
  static endingWith(context: Context, keepBytes: number): PinnedPool {
    const upstream = new PinnedHostMemoryResource({ context });
    const pool = new PinnedPool(upstream, { keepBytes, isContextOwned: true });
    context.atRelease(() => pool.release());
    return pool;
  }

  /**
   * The pool that every context has for the kit's own use, until the context ends: for staging streams
   * and for downloads into page-locked arrays.
   */
  static of(context: Context): PinnedPool {
    return pools.getOrInsertComputed(
      context,
      () => PinnedPool.endingWith(context, CONTEXT_KEEP_BYTES),
    );
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Bytes given back: free, or still needed by the GPU. */
  get byteLength(): number {
    return this.#freeBytes + this.#pendingBytes;
  }

  /** Tells whether it keeps nothing from now on. */
  get released(): boolean {
    return this.#released;
  }

  /** Hands out a block of at least that size, a kept one when one is little larger. */
  override allocate(byteLength: number, stream: CudaStream): bigint {
    requireBytes(byteLength);
    if (this.#released) throw new DisposedError("PooledPinnedHostMemoryResource");
    this.context.sweep();
    // The driver pins whole pages, so rounding up to one takes no more memory.
    const wanted = roundUp(byteLength, pageBytes());
    const size = this.#fitFor(wanted) ?? wanted;
    const address = this.#takeFree(size) ?? this.#pin(size, stream);
    this.#sizes.set(address, size);
    this.#usedBytes += size;
    return address;
  }

  /** Keeps a block for reuse once all that `stream` has queued by now is done; nothing waits. */
  override deallocate(address: bigint, _byteLength: number, stream: CudaStream): void {
    const size = this.#sizes.get(address);
    if (size === undefined) {
      throw new TypeError(`Cannot give ${formatAddress(address)} back: it is not in use here`);
    }
    this.#sizes.delete(address);
    this.#usedBytes -= size;
    this.#pendingBytes += size;
    const keep = () => {
      this.#pendingBytes -= size;
      this.#keep(address, size);
    };
    // When the stream is gone, the work on it was already waited for.
    if (stream.disposed) keep();
    else whenPassed(stream, keep);
  }

  /** Gives back what the GPU is done with, until at most `keepBytes` are kept; never throws. */
  trim(keepBytes = 0): void {
    checkSize(keepBytes, "bytes to keep");
    for (const [size, addresses] of this.#free) {
      const stuck: bigint[] = [];
      while (this.#freeBytes > keepBytes) {
        const address = addresses.pop();
        if (address === undefined) break;
        if (!this.#unpin(address, size)) stuck.push(address);
      }
      addresses.push(...stuck);
      if (addresses.length === 0) this.#free.delete(size);
    }
  }

  /** Gives everything back; blocks in use go back when they are freed. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#finishRelease();
  }

  #finishRelease(): void {
    this.trim();
    if (this.#usedBytes + this.#pendingBytes > 0) return;
    this.context.ledger.caches.delete(this);
    if (!this.#isContextOwned) this.context.release();
  }

  /** Returns the smallest size of free blocks that serve a request. */
  #fitFor(wanted: number): number | undefined {
    if (this.#free.has(wanted)) return wanted;
    let fit = Infinity;
    for (const size of this.#free.keys()) if (size > wanted && size < fit) fit = size;
    return fit <= wanted * MAX_LARGER ? fit : undefined;
  }

  #takeFree(size: number): bigint | undefined {
    const addresses = this.#free.get(size) ?? [];
    const address = addresses.pop();
    if (addresses.length === 0) this.#free.delete(size);
    if (address !== undefined) this.#freeBytes -= size;
    return address;
  }

  #pin(size: number, stream: CudaStream): bigint {
    return takeAgain(() => this.upstream.allocate(size, stream), () => {
      const formerBytes = this.#freeBytes;
      this.trim();
      return this.#freeBytes < formerBytes;
    });
  }

  #keep(address: bigint, size: number): void {
    this.#free.getOrInsertComputed(size, () => []).push(address);
    this.#freeBytes += size;
    if (this.#released) this.#finishRelease();
    else if (this.#freeBytes > this.#keepBytes) this.trim(this.#keepBytes);
  }

  #unpin(address: bigint, size: number): boolean {
    const stream = defaultStreamOf(this.context);
    const unpin = () => this.upstream.deallocate(address, size, stream);
    if (!tryRelease(this.context.driver, `memory of the ${this.name}`, unpin)) return false;
    this.#freeBytes -= size;
    return true;
  }
}
