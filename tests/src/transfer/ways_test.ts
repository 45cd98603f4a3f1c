// The sizes of pieces: a twelfth of the transfer, rounded to a power of two, within bounds.

import { assertEquals } from "@std/assert";
import { pieceBytesFor } from "../../../src/transfer/ways.ts";

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
