// Cards: that they show what they are given, in HTML and in text, and never throw.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Card } from "../../../src/cards/card.ts";
import { showCard, textOfCard } from "../../../src/cards/show_card.ts";

function cardWith(parts: Card["parts"], more: Partial<Card> = {}): Card {
  return { title: "weights", kind: "DeviceBuffer", summary: "float32[2]", parts, ...more };
}

const SEGMENTS = [
  { name: "live", amount: 1, text: "1 GiB", fill: "solid" },
  { name: "free", amount: 3, text: "3 GiB", fill: "empty" },
] as const;

Deno.test("showCard() gives HTML and text with the same words", () => {
  const bundle = showCard(() => cardWith([{ type: "facts", facts: [["made", "2 s ago"]] }]));
  assertEquals(Object.keys(bundle), ["text/html", "text/plain"]);
  for (const words of ["weights", "DeviceBuffer", "float32[2]", "made", "2 s ago"]) {
    assertStringIncludes(bundle["text/html"], words);
    assertStringIncludes(bundle["text/plain"], words);
  }
});

Deno.test("showCard() shows why a card could not be made instead of throwing", () => {
  const bundle = showCard(() => {
    throw new Error("the driver is gone");
  });
  assertStringIncludes(bundle["text/plain"], "the driver is gone");
  assertStringIncludes(bundle["text/html"], "the driver is gone");
});

Deno.test("showCard() leaves the kind out where the title says it", () => {
  const html = showCard(() => cardWith([], { title: "OutOfMemoryError", kind: "" }))["text/html"];
  assertStringIncludes(html, 'aria-label="OutOfMemoryError"');
  assertEquals(html.match(/OutOfMemoryError/g)?.length, 2); // the label and the title
});

Deno.test("showCard() escapes every text that it is given", () => {
  const evil = `<script>"&`;
  const html = showCard(() =>
    cardWith([
      { type: "facts", facts: [[evil, evil]] },
      { type: "bar", caption: evil, segments: [{ ...SEGMENTS[0], name: evil, text: evil }] },
      { type: "table", header: [evil], align: [], rows: [{ cells: [evil] }] },
      { type: "values", caption: evil, rows: [[evil]] },
      { type: "histogram", counts: [1], lowest: evil, highest: evil },
      { type: "note", text: evil },
    ], { title: evil, kind: evil, summary: evil })
  )["text/html"];
  assert(!html.includes("<script>"));
});

Deno.test("showCard() writes control characters and halves of surrogate pairs out, as its text does", () => {
  const evil = "a\u0000\u001b[31m\u202e\ud800b";
  const bundle = showCard(() =>
    cardWith([
      { type: "facts", facts: [[evil, evil]] },
      { type: "bar", segments: [{ ...SEGMENTS[0], name: evil }] },
      { type: "table", header: [evil], align: [], rows: [{ cells: [evil] }] },
    ], { title: evil })
  );
  const written = /\\u0000\\u001b\[31m\\u202e\\ud800b/g;
  for (const [form, count] of [["text/html", 8], ["text/plain", 6]] as const) {
    const shown = bundle[form];
    assertEquals(shown.match(written)?.length, count);
    for (const raw of ["\u0000", "\u001b", "\u202e"]) assert(!shown.includes(raw), shown);
    assert(shown.isWellFormed());
  }
});

Deno.test("showCard() says a state in words", () => {
  const bundle = showCard(() => cardWith([], { state: "disposed" }));
  assertStringIncludes(bundle["text/plain"], "[disposed]");
  assertStringIncludes(bundle["text/html"], ">disposed</span>");
});

Deno.test("showCard() draws a bar to scale, and names its segments", () => {
  const bundle = showCard(() => cardWith([{ type: "bar", segments: SEGMENTS }]));
  assertStringIncludes(bundle["text/html"], `width:25%;min-width:2px`);
  assertStringIncludes(bundle["text/html"], `aria-label="live 1 GiB, free 3 GiB"`);
  assertStringIncludes(bundle["text/plain"], `[${"█".repeat(10)}${"·".repeat(30)}]`);
});

Deno.test("showCard() styles each part by itself, as notebooks that are not trusted need it", () => {
  const html = showCard(() =>
    cardWith([
      { type: "bar", segments: SEGMENTS },
      { type: "table", header: ["name"], align: ["left"], rows: [{ cells: ["x"], share: 0.5 }] },
    ])
  )["text/html"];
  assertEquals(/<(style|script|svg)/.test(html), false);
  assertEquals(html.match(/<(div|i|td|th|tr|table)(?![a-z])(?! [^>]*style=)[^>]*>/g), ["<div>"]);
});

Deno.test("showCard() lets long names break between their words and never within a number", () => {
  const name = "model.layers.36.self_attn.q_proj.weight";
  const rows = [{ cells: [name, "1,048,576"] }, { cells: ["cell 5:1:38", "1"] }];
  const html =
    showCard(() =>
      cardWith([{ type: "table", header: ["a", "b"], align: ["left", "right"], rows }])
    )["text/html"];
  assertStringIncludes(html, "model.<wbr>layers.<wbr>36.<wbr>self_<wbr>attn");
  assertStringIncludes(html, 'white-space:nowrap">1,048,576</td>');
  assertStringIncludes(html, ">cell&nbsp;5:1:38<");
});

Deno.test("showCard() draws a bar of nothing", () => {
  const empty = SEGMENTS.map((segment) => ({ ...segment, amount: 0 }));
  const bundle = showCard(() => cardWith([{ type: "bar", segments: empty }]));
  assertStringIncludes(bundle["text/plain"], "[]");
});

Deno.test("showCard() keeps a sliver of a bar visible", () => {
  const segments = [{ ...SEGMENTS[0], amount: 1 }, { ...SEGMENTS[1], amount: 1e9 }];
  const bundle = showCard(() => cardWith([{ type: "bar", segments }]));
  assertStringIncludes(bundle["text/plain"], "[█");
});

Deno.test("textOfCard() says on a console why a card could not be made", () => {
  const text = textOfCard(() => {
    throw new Error("the driver is gone");
  });
  assertStringIncludes(text, "the driver is gone");
});
