// Page-locked memory that transfers pass through in one call. The driver's own way for small downloads
// takes longer; an array that is made as a copy of it is not cleared first, and its memory is used while
// it is warm; several threads copy between it and an array of middle size.

import { roundUp } from "../../ffi/alignment.ts";
import { pageBytes } from "../../ffi/host.ts";
import type { MemoryCache } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { tryRelease } from "../driver/release.ts";
import { memoryAt } from "../memory/host_bytes.ts";
import type { HostBytes } from "../memory/host_memory.ts";
import { Fence } from "../order/fence.ts";
import { HugePinnedMemory } from "./huge_pinned_memory.ts";
import type { Direction } from "./pieces.ts";
import {
  LANDING_DEMAND_COUNT,
  LARGER_LANDING_COUNT,
  MAX_SHARED_COPIES,
  MIN_KEPT_BYTES,
  SHARED_STAGING_BYTES,
  STAGING_BYTES,
} from "./ways.ts";

/** Page-locked memory for a transfer that is over before the next one. */
export interface StagingBlock {
  /** Its address. */
  readonly address: bigint;
  /** The memory. */
  readonly bytes: HostBytes;
  /** Fences for the copies of a transfer, all but the last. */
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
  /** Place of the next download. */
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
   * Returns memory for a download that is over before anything else runs: once the program has made some
   * that would have gained, and larger ones as soon as there is memory; undefined otherwise.
   */
  land(byteLength: number): HostBytes | undefined {
    if (byteLength > STAGING_BYTES) return undefined;
    const isLarger = byteLength >= MIN_KEPT_BYTES;
    const isOpen = this.#demandCount >= LANDING_DEMAND_COUNT ||
      isLarger && byteLength <= this.byteLength;
    if (isOpen) return this.#take("download", byteLength)?.bytes;
    this.#demandCount += isLarger ? LARGER_LANDING_COUNT : 1;
    return undefined;
  }

  /**
   * Returns memory for a transfer that threads share and that is over before anything else runs; undefined
   * where there is none.
   */
  take(direction: Direction, byteLength: number): StagingBlock | undefined {
    if (direction === "download") this.#grow(SHARED_STAGING_BYTES);
    return this.#take(direction, byteLength);
  }

  /**
   * Returns a part that no core has read lately for a download: the copy engine takes twice as long to
   * write memory that a core's cache still has; and always the same part for an upload.
   */
  #take(direction: Direction, byteLength: number): StagingBlock | undefined {
    this.#grow(Math.max(STAGING_BYTES, 2 ** Math.ceil(Math.log2(byteLength))));
    const memory = this.#memory;
    if (memory === undefined || this.byteLength < byteLength) return undefined;
    let start = 0;
    if (direction === "download") {
      if (this.#nextOffset + byteLength <= this.byteLength) start = this.#nextOffset;
      this.#nextOffset = start + roundUp(byteLength, pageBytes());
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
    for (const fence of memory.fences) fence.dispose();
    this.#free(memory.address);
  }

  #free(address: bigint): void {
    const free = () => this.#resource.deallocate(address);
    tryRelease(this.#context.driver, `the ${this.name}`, free);
  }

  /** Makes the memory as large as this, where the host has so much. */
  #grow(byteLength: number): void {
    if (this.byteLength >= byteLength || byteLength >= this.#refusedBytes) return;
    let address: bigint | undefined;
    const fences: Fence[] = [];
    try {
      address = this.#resource.allocate(byteLength);
      while (fences.length < MAX_SHARED_COPIES - 1) fences.push(new Fence(this.#context));
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
