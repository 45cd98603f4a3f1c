// The time for which calls that are over when they return keep the event loop: awaiting them gives it no turn.

import { nextTurn } from "../order/waiting.ts";
import { CALL_BYTES, DEFAULT_LIMITS } from "./ways.ts";

/** Work that calls may do before the event loop has a turn, as bytes that one thread moves. */
export class TurnBudget {
  #spentBytes = 0;
  #turn: Promise<void> | undefined;

  /** Tells whether another call may move its bytes before the next turn. */
  get isLeft(): boolean {
    return this.#turn === undefined;
  }

  /** Notes what a call has done; returns the next turn, for its promise to wait for, when that is due. */
  spend(byteLength: number): Promise<void> | undefined {
    this.#spentBytes += byteLength + CALL_BYTES;
    if (2 * this.#spentBytes < DEFAULT_LIMITS.maxCallBytes) return undefined;
    return this.#turn ??= nextTurn().then(() => {
      this.#spentBytes = 0;
      this.#turn = undefined;
    });
  }
}
