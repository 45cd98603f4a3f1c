// What transfers have asked for so far: it tells from when on their memory and threads pay.

import type { Lending } from "./copy_lanes.ts";

/** What has to be asked for before the ring, which takes 25 ms to make, and threads pay. */
const RING_FROM_BYTES = 128 * 2 ** 20;

/**
 * How many transfers it takes until lanes take the place of lent threads: starting them blocks for
 * some 40 ms, and then each transfer gains about a millisecond.
 */
const LANES_FROM_COUNT = 32;

/** The demand for transfers of one context. */
export class Demand {
  #byteLength = 0;
  #count = 0;

  /** Notes a transfer. */
  add(byteLength: number): void {
    this.#byteLength += byteLength;
    this.#count++;
  }

  /** Whether a program moves so much that the ring pays. */
  get paysForRing(): boolean {
    return this.#byteLength >= RING_FROM_BYTES;
  }

  /** Whether lanes pay: late for transfers that make do with lent threads. */
  paysForLanes({ canLend }: Lending): boolean {
    return canLend ? this.#count >= LANES_FROM_COUNT : this.paysForRing;
  }
}
