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
    for (let step = 0; step < 20; step++) {
      const start = random.below(100);
      const end = Math.min(100, start + random.below(12));
      const isAdded = random.below(3) > 0;
      if (isAdded) ranges.add(start, end);
      else ranges.remove(start, end);
      flags.fill(isAdded, start, end);
      const from = random.below(100);
      const to = Math.min(100, from + random.below(30));
      const gap = flags.findIndex((flag, index) => index >= from && index < to && !flag);
      assertEquals(ranges.firstGap(from, to), gap < 0 ? undefined : gap);
      const member = flags.findIndex((flag, index) => index >= from && index < to && flag);
      assertEquals(ranges.firstMember(from, to), member < 0 ? undefined : member);
    }
  }
});
