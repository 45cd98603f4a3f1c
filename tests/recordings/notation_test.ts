// The notation of steps: words, names with distances, lists in lists, runs of bytes.

import { assertEquals } from "@std/assert";
import {
  formatBytes,
  namesIn,
  parseReference,
  parseStep,
  splitList,
} from "../support/recording/notation.ts";

Deno.test("parseStep() tells the call, its words and what is expected", () => {
  assertEquals(parseStep("cuMemAlloc_v2 &a 256 = 0 new"), {
    call: "cuMemAlloc_v2",
    isForced: false,
    words: ["&a", "256"],
    expected: "0 new",
  });
  assertEquals(parseStep("!settle"), {
    call: "settle",
    isForced: true,
    words: [],
    expected: undefined,
  });
});

Deno.test("splitList() leaves commas inside brackets alone", () => {
  assertEquals(splitList("a,{b:1,c:[2,3]},(d,e)"), ["a", "{b:1,c:[2,3]}", "(d,e)"]);
  assertEquals(splitList(""), []);
});

Deno.test("parseReference() reads names with distances, and no numbers", () => {
  assertEquals(parseReference("a2+16"), { name: "a2", offset: 16, isGone: false });
  assertEquals(parseReference("a-16"), { name: "a", offset: -16, isGone: false });
  assertEquals(parseReference("~a"), { name: "a", offset: 0, isGone: true });
  assertEquals(parseReference("16"), undefined);
  assertEquals(parseReference("&a"), undefined);
});

Deno.test("namesIn() finds names and leaves out members, types, texts and images", () => {
  assertEquals(namesIn("[a,h+8]"), ["a", "h"]);
  assertEquals(namesIn("{location.type:1,srcHost:h+16}"), ["h"]);
  assertEquals(namesIn("(u64:a+4,u32:7)"), ["a"]);
  assertEquals(namesIn('"fill"'), []);
  assertEquals(namesIn("<kernels>"), []);
  assertEquals(namesIn("~a"), ["a"]);
  assertEquals(namesIn("@h+4"), ["h"]);
  assertEquals(namesIn("&n"), ["n"]);
});

Deno.test("formatBytes() writes runs", () => {
  assertEquals(formatBytes(Uint8Array.of(7, 7, 7, 255)), "07*3,ff*1");
  assertEquals(formatBytes(new Uint8Array(0)), "");
});
