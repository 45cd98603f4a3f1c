// Timers and waits that have an end: none is left behind, which the sanitizers of Deno.test() check.

import { assertEquals, assertRejects } from "@std/assert";
import { sleep, timerMilliseconds, within } from "../../../src/words/timer.ts";
import { StandingClock } from "../../support/standing_clock.ts";

Deno.test("timerMilliseconds() cuts what the runtime's timers cannot count", () => {
  assertEquals(timerMilliseconds(5), 5);
  assertEquals(timerMilliseconds(Infinity), 2 ** 31 - 1);
});

Deno.test("within() ends with its promise, or before one that is never settled", async () => {
  await within(Infinity, Promise.resolve());
  await within(1, new Promise(() => {}));
});

Deno.test("within() rejects as its promise does, and leaves no timer", async () => {
  await assertRejects(() => within(Infinity, Promise.reject(new Error("broken"))), Error, "broken");
});

Deno.test("sleep() and within() end while the program's own clock stands still", async () => {
  using _clock = new StandingClock();
  await sleep(1);
  await within(1, new Promise(() => {}));
});
