// Packed texts of the kind that the PTX of the kit is: any text comes back, and repetitions cost little.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { unpackText } from "../../../src/launch/packed_text.ts";
import { packText } from "../../support/kernels/pack_text.ts";
import { runSeeds } from "../../support/random.ts";

Deno.test("unpackText() gives back texts of any length and repetition", async () => {
  for (const text of ["", "a", "aaaaaaa", "a".repeat(1000), "abcdefg".repeat(50), '\n\t"\\`$']) {
    assertEquals(unpackText(packText(text)), text);
  }
  await runSeeds(5, ({ random }) => {
    const words = Array.from({ length: 1 + random.below(9) }, () => "x".repeat(random.below(200)));
    let text = "";
    for (let count = random.below(100); count > 0; count--) {
      text += `${random.pick(words)}${random.below(3)}`;
    }
    assertEquals(unpackText(packText(text)), text);
  });
});

Deno.test("packText() makes texts that repeat themselves shorter, and rejects its own mark", () => {
  assert(packText("ld.param.u64 ".repeat(100)).length < 200);
  assertThrows(() => packText("a~b"), TypeError, "Cannot pack");
});
