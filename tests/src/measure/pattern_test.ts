// Checks that a byte in the wrong place cannot pass for a right one.

import { assertEquals, assertNotEquals } from "@std/assert";
import { fillPattern, findMismatch } from "../../../src/measure/pattern.ts";

const PERIOD_BYTES = 2 ** 20;

for (const size of [0, 1, 7, 4096, PERIOD_BYTES, PERIOD_BYTES + 1, 3 * PERIOD_BYTES + 5]) {
  Deno.test(`findMismatch() finds none in ${size} bytes of the pattern`, () => {
    const bytes = new Uint8Array(size);
    fillPattern(bytes, 7);
    assertEquals(findMismatch(bytes, 7), -1);
  });
}

for (const at of [0, 1, 4095, PERIOD_BYTES - 1, PERIOD_BYTES, 2 * PERIOD_BYTES + 3]) {
  Deno.test(`findMismatch() finds one wrong byte at ${at}`, () => {
    const bytes = new Uint8Array(2 * PERIOD_BYTES + 4);
    fillPattern(bytes, 7);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    assertEquals(findMismatch(bytes, 7), at);
  });
}

Deno.test("findMismatch() notices bytes that are shifted", () => {
  const bytes = new Uint8Array(8192);
  fillPattern(bytes, 7);
  assertNotEquals(findMismatch(bytes.subarray(4), 7), -1);
});

Deno.test("fillPattern() depends on the seed and fills nothing with zeros", () => {
  const [first, second] = [new Uint8Array(4096), new Uint8Array(4096)];
  fillPattern(first, 1);
  fillPattern(second, 2);
  assertNotEquals(first, second);
  fillPattern(second, 0);
  assertEquals(second.filter((byte) => byte === 0).length < 64, true);
});
