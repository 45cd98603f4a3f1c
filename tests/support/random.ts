// Numbers that look random and are the same for the same seed, so that a failure can be run again.

/** A sequence of numbers that a seed decides. */
export class Random {
  #state: number;

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

  /** Takes a part of `length` elements, which may be empty. */
  range(length: number): { start: number; end: number } {
    const start = this.below(length + 1);
    return { start, end: start + this.below(length - start + 1) };
  }
}

/** One run of a test that makes many. */
export interface RandomRun {
  readonly random: Random;
  /** The calls that it made so far, which it notes for the message of a failure. */
  readonly log: string[];
}

/** Starts the random numbers of a test, and prints the seed. */
export function testRandom(): Random {
  return new Random(testSeed());
}

/** Runs a test's body many times, with the numbers of one seed after the other. */
export async function runSeeds(
  count: number,
  body: (run: RandomRun) => Promise<void> | void,
): Promise<void> {
  const seed = testSeed();
  for (let index = 0; index < count; index++) {
    const log: string[] = [];
    try {
      await body({ random: new Random(seed + index), log });
    } catch (cause) {
      const calls = log.map((call) => `\n${call}`).join("");
      throw new Error(`run ${index} of seed ${seed} went wrong${calls}`, { cause });
    }
  }
}

/** Sweeps run whole, as `deno task test:all` has it: else each takes a tenth, or a smaller part. */
export const IS_WHOLE: boolean = Deno.env.get("VRAMKIT_TEST_WHOLE") === "1";

/** Returns how much of a long sweep to run: all of it, or one of so many parts. */
export function share(count: number, { parts = 10 } = {}): number {
  return IS_WHOLE ? count : Math.ceil(count / parts);
}

/** Takes a share of the elements, which the seed decides, in their order, and no fewer than `least`. */
export function shareOf<T>(elements: readonly T[], { least = 1, parts = 10 } = {}): T[] {
  const random = testRandom();
  const left = [...elements.keys()];
  const chosen = new Set<number>();
  for (let count = Math.max(least, share(elements.length, { parts })); count > 0; count--) {
    chosen.add(left.splice(random.below(left.length), 1)[0] ?? 0);
  }
  return elements.filter((_, index) => chosen.has(index));
}

/** The seed to start from: VRAMKIT_TEST_SEED when it is set, else a new one, which it prints. */
function testSeed(): number {
  const given = Deno.env.get("VRAMKIT_TEST_SEED");
  const seed = given === undefined ? Date.now() >>> 0 : Number(given);
  console.log(`seed ${seed}; run it again with VRAMKIT_TEST_SEED=${seed}`);
  return seed;
}
