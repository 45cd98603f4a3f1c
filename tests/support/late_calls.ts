// The calls of a random program that it does not await at once, which its end waits for.

import type { Random, RandomRun } from "./random.ts";

/** Calls that are under way, with the checks of what they give. */
export class LateCalls {
  readonly #random: Random;
  readonly #log: string[];
  readonly #calls: Promise<unknown>[] = [];

  constructor({ random, log }: RandomRun) {
    this.#random = random;
    this.#log = log;
  }

  /** Keeps a call for the end. */
  add(call: Promise<unknown>): void {
    this.#calls.push(call);
  }

  /** Awaits a call now and then; the others are awaited later. */
  async maybe(call: Promise<unknown>): Promise<void> {
    if (this.#random.below(3) === 0) {
      this.#log.push("  awaited");
      await call;
      return;
    }
    call.catch(() => {}); // the end of the program tells
    this.add(call);
  }

  /** Waits for all of them; the first that failed tells. */
  async settle(): Promise<void> {
    await Promise.all(this.#calls.splice(0));
  }
}
