// What transfers have asked for so far: it tells from when on their memory and threads pay.

import type { Lending } from "./copy_lanes.ts";

/**
 * How many transfers it takes until lanes take the place of lent threads: starting them blocks for
 * some 40 ms, and then each transfer gains about a millisecond.
 */
const LANES_FROM_COUNT = 32;

/** The demand for transfers of one context. */
export class Demand {
  readonly #enoughBytes: number;
  #byteLength = 0;
  #count = 0;

  /** Starts at nothing; from `enoughBytes` on the ring pays. */
  constructor(enoughBytes: number) {
    this.#enoughBytes = enoughBytes;
  }

  /** Notes a transfer. */
  add(byteLength: number): void {
    this.#byteLength += byteLength;
    this.#count++;
  }

  /** Whether a program moves so much that the ring pays. */
  get paysForRing(): boolean {
    return this.#byteLength >= this.#enoughBytes;
  }

  /** Whether lanes pay: late for transfers that make do with lent threads. */
  paysForLanes({ canLend }: Lending): boolean {
    return canLend ? this.#count >= LANES_FROM_COUNT : this.paysForRing;
  }
}
