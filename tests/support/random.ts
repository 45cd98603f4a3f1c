// Numbers that look random and are the same for the same seed, so that a failure can be run again.

/** A sequence of numbers that a seed decides. */
export class Random {
  #state: number;

  /** Starts a sequence. */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Takes a whole number from 0 to `limit - 1`. */
  below(limit: number): number {
    // mulberry32, whose 32 bits of state are plenty for a few hundred choices
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let bits = this.#state;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return Math.floor(((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32 * limit);
  }

  /** Takes one of the choices; undefined when there is none. */
  pick<T>(choices: readonly T[]): T | undefined {
    return choices[this.below(choices.length)];
  }
}

/** The seed to start from: VRAMKIT_TEST_SEED when it is set, else a new one. */
export function testSeed(): number {
  const given = Deno.env.get("VRAMKIT_TEST_SEED");
  return given === undefined ? Date.now() >>> 0 : Number(given);
}
