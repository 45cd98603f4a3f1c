// Checks how rows of text are laid out.

import { assertEquals } from "@std/assert";
import { formatTable } from "../../../src/words/text_table.ts";

Deno.test("formatTable() pads each column to its widest cell", () => {
  assertEquals(formatTable([["a", "size"], ["longer", "1"]]), "a       size\nlonger  1");
});

Deno.test("formatTable() aligns numbers to the right", () => {
  assertEquals(formatTable([["n", "size"], ["a", "1"]], ["left", "right"]), "n  size\na     1");
});

Deno.test("formatTable() takes rows of different lengths and ends no line with blanks", () => {
  assertEquals(formatTable([["a", "b", "c"], ["x"]]), "a  b  c\nx");
});

Deno.test("formatTable() lays out no rows as nothing", () => {
  assertEquals(formatTable([]), "");
});

Deno.test("formatTable() shortens names in the middle, where they differ least", () => {
  const name = `model.${"layers.".repeat(20)}weight`;
  const [header = "", line = ""] = formatTable([["name", "size"], [name, "4 B"]]).split("\n");
  assertEquals(line, "model.layers.layers.layers.lay…s.layers.layers.layers.weight  4 B");
  assertEquals(header.indexOf("size"), line.indexOf("4 B"));
  const [first = "", second = ""] = formatTable([["x", name], ["y", name]]).split("\n");
  assertEquals([first, second], [`x  ${name}`, `y  ${name}`]);
});
