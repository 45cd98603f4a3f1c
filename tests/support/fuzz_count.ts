// How often tests try random inputs: a tenth of a full run, so that the suite stays short.

/** Whether the environment asks for full runs: `VRAMKIT_TEST_FULL=1`. */
const IS_FULL = Deno.env.get("VRAMKIT_TEST_FULL") === "1";

/** Returns the number of tries of a run whose full number is given. */
export function fuzzCount(fullCount: number): number {
  return IS_FULL ? fullCount : Math.ceil(fullCount / 10);
}
