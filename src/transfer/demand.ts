// The demand of transfers so far, which tells when page-locked memory and threads pay off.

import type { Lending } from "../lanes/copy_lanes.ts";

/**
 * Number of transfers from which lanes replace lent threads: starting them blocks for 40 to 120 ms,
 * and then each transfer gains about a millisecond.
 */
const LANES_FROM_COUNT = 32;

/** Bytes from which on that holds for few transfers: one device gains some 5 ms for each GiB. */
const LANES_FROM_BYTES = 16 * 2 ** 30;

/** The same where several devices work at once, which lent threads serve at a third of the speed. */
const SHARED_LANES_FROM_BYTES = 2 * 2 ** 30;

/**
 * Bytes of transfers that one driver call could move, from which on lanes pay off: those save some 65 ms
 * for each GiB, as much as it takes to start them.
 */
const LANES_FROM_BRIEF_BYTES = 2 ** 30;

/** Circumstances of a transfer that decide whether lanes pay off. */
export interface LaneUse extends Lending {
  /** Whether several devices have transfers under way. */
  readonly isShared: boolean;
}

/** The demand for transfers of one context. */
export class Demand {
  readonly #enoughBytes: number;
  #byteLength = 0;
  #count = 0;
  #briefBytes = 0;

  /** Starts at 0; from `enoughBytes` on the ring pays off. */
  constructor(enoughBytes: number) {
    this.#enoughBytes = enoughBytes;
  }

  /** Counts a transfer. */
  add(byteLength: number): void {
    this.#byteLength += byteLength;
    this.#count++;
  }

  /** Counts a transfer that one driver call could move; returns whether lanes pay off from this one on. */
  addBrief(byteLength: number): boolean {
    const before = this.#briefBytes;
    this.#briefBytes += byteLength;
    return before < LANES_FROM_BRIEF_BYTES && this.#briefBytes >= LANES_FROM_BRIEF_BYTES;
  }

  /** Whether the program moves so much that the ring pays off. */
  get paysForRing(): boolean {
    return this.wouldPayForRing(0);
  }

  /** Returns whether the ring pays off once so many bytes more are moved. */
  wouldPayForRing(moreBytes: number): boolean {
    return this.#byteLength + moreBytes >= this.#enoughBytes;
  }

  /** Returns whether lanes pay off: later for transfers that can use lent threads. */
  paysForLanes({ canLend, isShared }: LaneUse): boolean {
    if (!canLend) return this.paysForRing;
    const fromBytes = isShared ? SHARED_LANES_FROM_BYTES : LANES_FROM_BYTES;
    return this.#count >= LANES_FROM_COUNT || this.#byteLength >= fromBytes;
  }
}
