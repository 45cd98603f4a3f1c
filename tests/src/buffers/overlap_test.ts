// Overlap of strided layouts, against the plain list of their elements.

import { assertEquals } from "@std/assert";
import { sharesElement } from "../../../src/buffers/strides.ts";
import { isDistinct, type StridedLayout } from "../../../src/buffers/strides.ts";
import { type Random, testRandom } from "../../support/random.ts";
import { elementsOf } from "../../support/strided_elements.ts";

function randomLayout(random: Random): StridedLayout {
  const axes = Array.from({ length: random.below(4) });
  return {
    shape: axes.map(() => random.below(4)),
    strides: axes.map(() => random.below(13) - 6),
    offset: random.below(12),
  };
}

Deno.test("sharesElement() says what the lists of elements say, for 5,000 pairs of layouts", () => {
  const random = testRandom();
  for (let round = 0; round < 5000; round++) {
    const [a, b] = [randomLayout(random), randomLayout(random)];
    const shared = new Set(elementsOf(a)).intersection(new Set(elementsOf(b))).size > 0;
    assertEquals(sharesElement(a, b), shared, JSON.stringify([a, b]));
  }
});

Deno.test("isDistinct() never calls a layout distinct that repeats an element", () => {
  const random = testRandom();
  for (let round = 0; round < 5000; round++) {
    const layout = randomLayout(random);
    const elements = elementsOf(layout);
    if (new Set(elements).size === elements.length) continue;
    assertEquals(isDistinct(layout), false, JSON.stringify(layout));
  }
});
