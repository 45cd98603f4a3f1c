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
