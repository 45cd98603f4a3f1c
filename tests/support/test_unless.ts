// Tests that not every machine can run, or not every run.

import { IS_WHOLE } from "./random.ts";

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

/** Registers a test of what works on Linux alone. */
export function testOnLinux(name: string, fn: () => void | Promise<void>): void {
  testUnless(name, Deno.build.os === "linux" ? undefined : "needs Linux", fn);
}
