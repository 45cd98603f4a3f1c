// A set of bytes, compared with one flag for each byte over many random steps.
// A wrong edge would let a read of bytes that nobody wrote pass.

import { assertEquals } from "@std/assert";
import { ByteRanges } from "../../../../ffi/simulated/model/byte_ranges.ts";
import { Random } from "../../../support/random.ts";

Deno.test("ByteRanges agrees with a flag for each byte", () => {
  const random = new Random(2);
  for (let round = 0; round < 200; round++) {
    const ranges = new ByteRanges();
    const flags = new Array<boolean>(100).fill(false);
    for (let step = 0; step < 12; step++) {
      const added = Array.from({ length: 1 + random.below(4) }, () => {
        const start = random.below(100);
        return { start, end: Math.min(100, start + random.below(12)) };
      });
      if (added.length > 1) ranges.addAll(added);
      for (const { start, end } of added) {
        if (added.length === 1) ranges.add(start, end);
        flags.fill(true, start, end);
      }
      const from = random.below(100);
      const to = Math.min(100, from + random.below(30));
      const gap = flags.findIndex((flag, index) => index >= from && index < to && !flag);
      assertEquals(ranges.firstGap(from, to), gap < 0 ? undefined : gap);
    }
  }
});
