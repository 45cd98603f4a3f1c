// Tests that not every machine can run, or not every run.

import { IS_WHOLE, Random } from "./random.ts";

/** Registers a test; where there is a reason against running it, the name tells that, and it is ignored. */
export function testUnless(
  name: string,
  reason: string | undefined,
  fn: () => void | Promise<void>,
): void {
  const title = reason === undefined ? name : `${name} (skipped: ${reason})`;
  Deno.test(title, { ignore: reason !== undefined }, fn);
}

/** Registers a test that takes long by itself: only `deno task test:all`, and so CI, runs it. */
export function testOfAll(name: string, fn: () => void | Promise<void>): void {
  testUnless(name, IS_WHOLE ? undefined : "long, deno task test:all runs it", fn);
}

/** A run of the suite takes one of so many tests that take half a second or longer. */
const TURNS = 10;

/** The seed of a run of the suite; a file that runs by itself has none, and takes all its tests. */
const SEED = Deno.env.get("VRAMKIT_TEST_SEED");

/** The turn of the next test that takes turns in this process; it starts with the seed. */
let nextTurn: number | undefined;

/**
 * Names a test that takes half a second or longer: `Deno.test(inTurn("..."), ...)`. A run of the suite takes
 * one in ten of each process, so that all runs take about as long; its seed decides which. `deno task
 * test:all` takes all.
 */
export function inTurn(name: string): { readonly name: string; readonly ignore: boolean } {
  if (IS_WHOLE || SEED === undefined) return { name, ignore: false };
  nextTurn ??= new Random(Number(SEED) + sumOf(name)).below(TURNS);
  if (nextTurn++ % TURNS === 0) return { name, ignore: false };
  const words = `skipped: one run in ${TURNS} takes it, and deno task test:all`;
  return { name: `${name} (${words})`, ignore: true };
}

/** Processes start with different turns, as the first names of their tests differ. */
function sumOf(name: string): number {
  return new TextEncoder().encode(name).reduce((sum, byte) => sum + byte, 0);
}

/** Has a function such as {@link testOnLinux} register a test in its turn: `takingTurns(testOnLinux)("...", ...)`. */
export function takingTurns<T extends unknown[]>(
  register: (name: string, ...rest: T) => void,
): (name: string, ...rest: T) => void {
  return (name, ...rest) => {
    const turn = inTurn(name);
    if (turn.ignore) Deno.test(turn, () => {});
    else register(name, ...rest);
  };
}

/** Registers a test of what works on Linux alone. */
export function testOnLinux(name: string, fn: () => void | Promise<void>): void {
  testUnless(name, Deno.build.os === "linux" ? undefined : "needs Linux", fn);
}
