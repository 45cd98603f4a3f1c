// Ranges that overlap, against a count byte by byte over all small ranges.

import { assertEquals } from "@std/assert";
import { areApart, areIndependent } from "../../../src/copies/address_ranges.ts";

/** A range, and a number with a bit for each of its bytes. */
interface MarkedRange {
  readonly address: bigint;
  readonly byteLength: number;
  readonly bits: number;
}

const RANGES: readonly MarkedRange[] = [0, 1, 2, 3, 4].flatMap((start) =>
  [1, 2, 3].map((byteLength) => ({
    address: 0x1000n + BigInt(start),
    byteLength,
    bits: ((1 << byteLength) - 1) << start,
  }))
);

Deno.test("areApart() is true for ranges without a common byte, in any order", () => {
  for (const a of RANGES) {
    for (const b of RANGES) {
      for (const c of RANGES) {
        const overlap = (a.bits & b.bits) | (b.bits & c.bits) | (a.bits & c.bits);
        assertEquals(areApart([a, b, c]), overlap === 0, `${a.bits} ${b.bits} ${c.bits}`);
      }
    }
  }
});

Deno.test("areIndependent() is true for copies that write nothing another one touches", () => {
  for (const a of RANGES) {
    for (const b of RANGES) {
      for (const c of RANGES) {
        for (const d of RANGES) {
          const copies = [{ destination: a, source: b }, { destination: c, source: d }];
          const overlap = (a.bits & c.bits) | ((a.bits | c.bits) & (b.bits | d.bits));
          if (areIndependent(copies) === (overlap === 0)) continue;
          throw new Error(`wrong for ${a.bits} from ${b.bits}, ${c.bits} from ${d.bits}`);
        }
      }
    }
  }
});
