// The sizes of pieces: a twelfth of the transfer, rounded to a power of two, within bounds; and the limits
// that follow from what one core of a machine does.

import { assertEquals, assertThrows } from "@std/assert";
import { DEFAULT_LIMITS, limitsOf, pieceBytesFor } from "../../../src/transfer/ways.ts";

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const SLOT_BYTES = 4 * MIB;

Deno.test("pieceBytesFor() is the power of two that is nearest to a twelfth of the transfer", () => {
  const cases = [
    [6 * MIB, 512 * KIB],
    [12 * MIB, MIB],
    [16 * MIB, MIB], // 1.33 MiB
    [18 * MIB, 2 * MIB], // 1.5 MiB, of which 2 is nearer by factors
    [24 * MIB + 1, 2 * MIB],
    [40 * MIB, 4 * MIB],
  ] as const;
  for (const [byteLength, expected] of cases) {
    assertEquals(pieceBytesFor(byteLength, SLOT_BYTES), expected, `${byteLength} bytes`);
  }
});

Deno.test("pieceBytesFor() is 256 KiB at least, and a slot at most", () => {
  assertEquals(pieceBytesFor(1, SLOT_BYTES), 256 * KIB);
  assertEquals(pieceBytesFor(3 * MIB, SLOT_BYTES), 256 * KIB);
  assertEquals(pieceBytesFor(2 ** 40, SLOT_BYTES), SLOT_BYTES);
  assertEquals(pieceBytesFor(12 * MIB, 4096), 4096);
});

Deno.test("limitsOf() lets the driver move in a turn what one core copies meanwhile", () => {
  assertEquals(limitsOf({}), { ...DEFAULT_LIMITS, ringFromBytes: undefined });
  const slow = limitsOf({ coreSpeed: 2.5, pageSpeed: 1.2 });
  assertEquals([slow.maxCallBytes, slow.maxFreshCallBytes], [
    4 * MIB, // the power of two nearest to 5 MB, in 2 ms
    MIB, // to 1.2 MB, in 1.5 ms that make pages and copy
  ]);
  assertEquals(limitsOf({ coreSpeed: 40 }).maxCallBytes, 64 * MIB);
  for (const coreSpeed of [0, -1, NaN, 1e4]) {
    assertThrows(() => limitsOf({ coreSpeed }), RangeError, `the coreSpeed ${coreSpeed}`);
  }
  assertThrows(
    () => limitsOf({ pageSpeed: Infinity }),
    RangeError,
    "expected GB/s from 0.1 to 1000",
  );
});
