// Page-locked memory that transfers pass through in one call. The driver's own way for small downloads
// takes longer; an array that is made as a copy of it is not cleared first, and its memory is used while
// it is warm; several threads copy between it and an array of middle size.

import { roundUp } from "../../ffi/alignment.ts";
import { pageBytes } from "../../ffi/host.ts";
import type { MemoryCache } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { memoryAt } from "../memory/host_bytes.ts";
import type { HostBytes } from "../memory/host_memory.ts";
import type { Fence } from "../order/fence.ts";
import { finished } from "../words/finished.ts";
import type { Direction } from "./pieces.ts";
import { PinnedSlab } from "./pinned_slab.ts";
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
  #slab: PinnedSlab | undefined;
  /** The same memory for the host. */
  #bytes: HostBytes = new Uint8Array(0);
  /** Place of the next download. */
  #nextOffset = 0;
  #demandCount = 0;
  /** The smallest size that could not be had; from there on no size is asked for. */
  #refusedBytes = Infinity;

  /** Starts with no memory; it ends with the context. */
  private constructor(context: Context) {
    this.#context = context;
    known.set(context, this);
    context.ledger.caches.add(this);
    context.atRelease(() => {
      this.trim();
      context.ledger.caches.delete(this);
    });
  }

  /** Returns the staging memory of a context. */
  static of(context: Context): StagingMemory {
    return known.get(context) ?? new StagingMemory(context);
  }

  /** Bytes of page-locked memory it holds. */
  get byteLength(): number {
    return this.#bytes.byteLength;
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
    const slab = this.#slab;
    if (slab === undefined || this.byteLength < byteLength) return undefined;
    let start = 0;
    if (direction === "download") {
      if (this.#nextOffset + byteLength <= this.byteLength) start = this.#nextOffset;
      this.#nextOffset = start + roundUp(byteLength, pageBytes());
    }
    return {
      address: slab.address + BigInt(start),
      bytes: this.#bytes.subarray(start, start + byteLength),
      fences: slab.fences,
    };
  }

  /** Frees the memory; the next transfers allocate it again. */
  trim(): void {
    // The host may have memory for the next transfer that it lacked before.
    this.#refusedBytes = Infinity;
    this.#replaceBy(undefined, new Uint8Array(0));
  }

  #replaceBy(slab: PinnedSlab | undefined, bytes: HostBytes): void {
    const former = this.#slab;
    // First: memory that cannot be freed is reported, and never used or freed again.
    this.#slab = slab;
    this.#bytes = bytes;
    former?.dispose();
  }

  /** Makes the memory as large as this, where the host has so much. */
  #grow(byteLength: number): void {
    if (this.byteLength >= byteLength || byteLength >= this.#refusedBytes) return;
    const request = { byteLength, fenceCount: MAX_SHARED_COPIES - 1, name: `the ${this.name}` };
    let bytes = this.#bytes;
    try {
      const slab = finished(new PinnedSlab(this.#context, request), ({ address }) => {
        bytes = new Uint8Array(memoryAt(address, byteLength));
      });
      this.#replaceBy(slab, bytes);
    } catch {
      // Less memory serves as well, and without any the driver moves the bytes.
      this.#refusedBytes = byteLength;
    }
  }
}
