// Page-locked memory that transfers pass through in one call. The driver's own way for small downloads
// takes longer; an array that is made as a copy of it is not cleared first, and its memory is used while
// it is warm; several threads copy between it and an array of middle size.

import type { MemoryCache } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { tryRelease } from "../driver/release.ts";
import { forgetHeap } from "../lanes/heap_pages.ts";
import { memoryAt } from "../memory/host_bytes.ts";
import type { HostBytes } from "../memory/host_memory.ts";
import { Fence } from "../order/fence.ts";
import { HugePinnedMemory } from "./huge_pinned_memory.ts";

/** For more bytes several threads that fill the new array are faster. */
const MOST_LANDING_BYTES = 4 * 2 ** 20;

/** Small downloads that pay for the memory, each of which gains some 3 microseconds. */
const DEMAND_COUNT = 320;

/** From this size on a download gains as much as so many small ones. */
const MORE_BYTES = 2 ** 16;
const MORE_COUNT = 16;

/** First size of the memory: a large page. */
const SMALLEST_BYTES = 2 ** 21;

/** The largest transfer is eight copies of a MiB; each but the last has a fence. */
const FENCE_COUNT = 7;

/** Page-locked memory of one context. */
export interface StagingBlock {
  /** Its address. */
  readonly address: bigint;
  /** The memory, at least as large as was asked for. */
  readonly bytes: HostBytes;
  /** Fences for the copies of a transfer. */
  readonly fences: readonly Fence[];
}

const known = new WeakMap<Context, StagingMemory>();

/** One context's memory for transfers that are over in one call; a cache that can be trimmed. */
export class StagingMemory implements MemoryCache {
  readonly name = "staging memory";
  readonly kind = "pinned";
  readonly #context: Context;
  readonly #resource: HugePinnedMemory;
  #memory: StagingBlock | undefined;
  #demandCount = 0;
  /** The smallest size that could not be had; from there on no size is asked for. */
  #refusedBytes = Infinity;

  /** Starts with no memory. */
  constructor(context: Context) {
    this.#context = context;
    this.#resource = new HugePinnedMemory({ context });
    context.ledger.caches.add(this);
  }

  /** Returns the staging memory of a context; it ends with the context. */
  static of(context: Context): StagingMemory {
    return known.getOrInsertComputed(context, makeMemory);
  }

  /** Bytes of page-locked memory it holds. */
  get byteLength(): number {
    return this.#memory?.bytes.byteLength ?? 0;
  }

  /** Allocates the memory before a program's first downloads. */
  prepare(): void {
    this.take(1);
  }

  /**
   * Returns whether downloads of a size land here: once the program has made some that would have, and
   * larger ones as soon as there is memory.
   */
  isOpenFor(byteLength: number): boolean {
    if (byteLength > MOST_LANDING_BYTES || !this.#canHave(byteLength)) return false;
    if (this.#demandCount >= DEMAND_COUNT) return true;
    return byteLength >= MORE_BYTES && byteLength <= this.byteLength;
  }

  /**
   * Returns memory for a download that is over before anything else runs; undefined for large ones, and
   * until a program has made some.
   */
  land(byteLength: number): HostBytes | undefined {
    if (this.isOpenFor(byteLength)) return this.take(byteLength)?.bytes.subarray(0, byteLength);
    if (byteLength <= MOST_LANDING_BYTES) {
      this.#demandCount += byteLength < MORE_BYTES ? 1 : MORE_COUNT;
    }
    return undefined;
  }

  /** Returns memory for a transfer that is over before anything else runs; undefined where there is none. */
  take(byteLength: number): StagingBlock | undefined {
    if (this.byteLength < byteLength && this.#canHave(byteLength)) this.#grow(byteLength);
    return this.byteLength < byteLength ? undefined : this.#memory;
  }

  /** Forgets the downloads so far. */
  forget(): void {
    this.#demandCount = 0;
  }

  /** Frees the memory; the next transfers allocate it again. */
  trim(): void {
    // The host may have memory for the next transfer that it lacked before.
    this.#refusedBytes = Infinity;
    const memory = this.#memory;
    if (memory === undefined) return;
    // Emptied first: memory that cannot be freed is reported, and never used or freed again.
    this.#memory = undefined;
    for (const fence of memory.fences) fence.dispose();
    this.#free(memory.address);
  }

  #free(address: bigint): void {
    const free = () => this.#resource.deallocate(address);
    tryRelease(this.#context.driver, `the ${this.name}`, free);
  }

  /** Returns whether there is, or may be, memory for a size. */
  #canHave(byteLength: number): boolean {
    return byteLength <= this.byteLength || blockBytes(byteLength) < this.#refusedBytes;
  }

  #grow(wanted: number): void {
    const refusedBytes = this.#refusedBytes;
    this.trim();
    this.#refusedBytes = refusedBytes;
    const byteLength = blockBytes(wanted);
    let address: bigint | undefined;
    const fences: Fence[] = [];
    try {
      address = this.#resource.allocate(byteLength);
      while (fences.length < FENCE_COUNT) fences.push(new Fence(this.#context));
      this.#memory = { address, bytes: new Uint8Array(memoryAt(address, byteLength)), fences };
    } catch {
      // Without page-locked memory the driver moves the bytes.
      this.#refusedBytes = byteLength;
      for (const fence of fences) fence.dispose();
      if (address !== undefined) this.#free(address);
    }
  }
}

function makeMemory(context: Context): StagingMemory {
  const memory = new StagingMemory(context);
  context.atRelease(() => {
    memory.trim();
    context.ledger.caches.delete(memory);
  });
  return memory;
}

/** Returns the size of the memory for a transfer. */
function blockBytes(byteLength: number): number {
  return Math.max(SMALLEST_BYTES, 2 ** Math.ceil(Math.log2(byteLength)));
}

/** Forgets the downloads that were made before the program's first, and the memory unless it is kept. */
export function forgetDownloads(context: Context, { isKept = false } = {}): void {
  forgetHeap();
  const memory = known.get(context);
  if (memory === undefined) return;
  memory.forget();
  if (isKept) return;
  memory.trim();
  context.ledger.caches.delete(memory);
  known.delete(context);
}
