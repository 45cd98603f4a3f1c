// Page-locked slots that large transfers pass through, allocated in slabs as they are needed.
// A slot is free, with a lane, or with the copy engine; it is reused when both are done with it.

import type { Context } from "../driver/context.ts";
import type { Fence } from "../order/fence.ts";
import { PinnedSlab } from "./pinned_slab.ts";
import { type EngineLimits, FIRST_SLOTS, GROWTH, MAX_SLOTS } from "./ways.ts";

/** One page-locked slot. */
export interface Slot {
  /** Its number, by which its lanes know it. */
  readonly index: number;
  /** Its address. */
  readonly address: bigint;
  /** Passed when the copy engine is done with the slot. */
  readonly fence: Fence;
}

/** Where a ring belongs. */
export interface RingPlace {
  /** Number of its first slot, by which its lanes know it; 0 when left out. */
  readonly firstIndex?: number;
  /** The NUMA node whose memory it takes; any when left out. */
  readonly node?: number | undefined;
}

/** The slots of one engine. */
export class PinnedRing {
  readonly #limits: EngineLimits;
  readonly #context: Context;
  readonly #place: RingPlace;
  readonly #slabs: PinnedSlab[] = [];
  readonly #slots: Slot[] = [];
  readonly #free: Slot[] = [];
  #isFull = false;

  /** Starts with no memory. */
  constructor(context: Context, limits: EngineLimits, place: RingPlace = {}) {
    this.#context = context;
    this.#limits = limits;
    this.#place = place;
  }

  /**
   * Takes a free slot, and allocates more of them up to the limit; undefined when all are busy. A download
   * takes the one that has been free for longest: the copy engine takes twice as long to write memory
   * that the cache of a lane still has.
   *
   * @throws CudaError when not even the first slots can be allocated.
   */
  take(direction: "upload" | "download"): Slot | undefined {
    if (this.#free.length === 0 && !this.#isFull) this.#grow();
    return direction === "upload" ? this.#free.pop() : this.#free.shift();
  }

  /** Returns whether there are slots; allocates the first ones when there are none. */
  prepare(): boolean {
    try {
      if (this.#slots.length === 0) this.#grow();
    } catch {
      // The driver moves bytes without page-locked memory, and says what else is wrong.
    }
    return this.#slots.length > 0;
  }

  /** Gives a slot back. */
  put(slot: Slot): void {
    this.#free.push(slot);
    // The host may have memory for the next transfer that it lacked a moment ago.
    if (this.#free.length === this.#slots.length) this.#isFull = this.#hasAll;
  }

  /** Bytes of page-locked memory it holds. */
  get byteLength(): number {
    return this.#slots.length * this.#limits.slotBytes;
  }

  /** Frees all slots when none is busy; the next transfer allocates them again. */
  trim(): void {
    if (this.#free.length < this.#slots.length) return;
    // Emptied first: a slab that cannot be freed is reported, and never used or freed again.
    this.#free.length = this.#slots.length = 0;
    this.#isFull = false;
    for (const slab of this.#slabs.splice(0)) slab.dispose();
  }

  /** Makes few slots for a few small arrays, then more: each slab takes a millisecond. */
  #grow(): void {
    const { slotBytes, slotCount } = this.#limits;
    const held = this.#slots.length;
    const wanted = held === 0 ? FIRST_SLOTS : Math.max(GROWTH * FIRST_SLOTS, held);
    const count = Math.min(wanted, MAX_SLOTS, slotCount - held); // more would keep the thread too long
    const slab = this.#makeSlab(count);
    this.#isFull = slab === undefined;
    if (slab === undefined) return;
    this.#slabs.push(slab);
    const first = held + (this.#place.firstIndex ?? 0);
    for (const [i, fence] of slab.fences.entries()) {
      const slot = { index: first + i, address: slab.address + BigInt(i * slotBytes), fence };
      this.#slots.push(slot);
      this.#free.push(slot);
    }
    this.#isFull = this.#hasAll;
  }

  get #hasAll(): boolean {
    return this.#slots.length === this.#limits.slotCount;
  }

  /** Makes a slab; returns undefined when that fails and the ring has other slots. */
  #makeSlab(fenceCount: number): PinnedSlab | undefined {
    const byteLength = fenceCount * this.#limits.slotBytes;
    const { node } = this.#place;
    const name = "memory of the transfer ring";
    try {
      return new PinnedSlab(this.#context, { byteLength, fenceCount, name, node });
    } catch (error) {
      if (this.#slots.length === 0) throw error;
      return undefined;
    }
  }
}
