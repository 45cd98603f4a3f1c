// Page-locked memory that transfers pass through in one call. The driver's own way for small downloads
// takes longer; an array that is made as a copy of it is not cleared first, and its memory is used while
// it is warm; several threads copy between it and an array of middle size.

import { roundUp } from "../../ffi/alignment.ts";
import type { MemoryCache } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { tryRelease } from "../driver/release.ts";
import { PAGE_BYTES } from "../lanes/fresh_pages.ts";
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

/**
 * Size of the memory. Downloads use its parts in turn: the copy engine takes twice as long to write memory
 * that a core's cache still has, 53 microseconds for a MiB instead of 29, and a core has read another part
 * by then. Where other threads read it as well, their caches have more.
 */
const SMALLEST_BYTES = 2 ** 22;
const SHARED_BYTES = 2 ** 24;

/** The largest transfer is eight copies of a MiB; each but the last has a fence. */
const FENCE_COUNT = 7;

/** Page-locked memory for a transfer that is over before the next one. */
export interface StagingBlock {
  /** Its address. */
  readonly address: bigint;
  /** The memory. */
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
  /** Where the next download lands. */
  #nextOffset = 0;
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
    if (this.isOpenFor(byteLength)) return this.#take("download", byteLength)?.bytes;
    if (byteLength <= MOST_LANDING_BYTES) {
      this.#demandCount += byteLength < MORE_BYTES ? 1 : MORE_COUNT;
    }
    return undefined;
  }

  /**
   * Returns memory for a transfer that threads share and that is over before anything else runs; undefined
   * where there is none.
   */
  take(direction: "upload" | "download", byteLength: number): StagingBlock | undefined {
    if (direction === "download") this.#grow(SHARED_BYTES);
    return this.#take(direction, byteLength);
  }

  /** Returns a part that no core has read lately for a download, and always the same one for an upload. */
  #take(direction: "upload" | "download", byteLength: number): StagingBlock | undefined {
    this.#grow(blockBytes(byteLength));
    const memory = this.#memory;
    if (memory === undefined || this.byteLength < byteLength) return undefined;
    let start = 0;
    if (direction === "download") {
      if (this.#nextOffset + byteLength <= this.byteLength) start = this.#nextOffset;
      this.#nextOffset = start + roundUp(byteLength, PAGE_BYTES);
    }
    return {
      address: memory.address + BigInt(start),
      bytes: memory.bytes.subarray(start, start + byteLength),
      fences: memory.fences,
    };
  }

  /** Frees the memory; the next transfers allocate it again. */
  trim(): void {
    // The host may have memory for the next transfer that it lacked before.
    this.#refusedBytes = Infinity;
    const memory = this.#memory;
    if (memory === undefined) return;
    // Emptied first: memory that cannot be freed is reported, and never used or freed again.
    this.#memory = undefined;
    this.#release(memory);
  }

  #release({ address, fences }: Pick<StagingBlock, "address" | "fences">): void {
    for (const fence of fences) fence.dispose();
    this.#free(address);
  }

  #free(address: bigint): void {
    const free = () => this.#resource.deallocate(address);
    tryRelease(this.#context.driver, `the ${this.name}`, free);
  }

  /** Returns whether there is, or may be, memory for a size. */
  #canHave(byteLength: number): boolean {
    return byteLength <= this.byteLength || blockBytes(byteLength) < this.#refusedBytes;
  }

  /** Makes the memory as large as this, where the host has so much. */
  #grow(byteLength: number): void {
    if (this.byteLength >= byteLength || byteLength >= this.#refusedBytes) return;
    let address: bigint | undefined;
    const fences: Fence[] = [];
    try {
      address = this.#resource.allocate(byteLength);
      while (fences.length < FENCE_COUNT) fences.push(new Fence(this.#context));
      const bytes = new Uint8Array(memoryAt(address, byteLength));
      const refusedBytes = this.#refusedBytes;
      this.trim();
      this.#refusedBytes = refusedBytes;
      this.#memory = { address, bytes, fences };
    } catch {
      // Less memory serves as well, and without any the driver moves the bytes.
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
