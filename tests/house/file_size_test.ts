// Files stay small and are named after what they hold.
// Tables of the vendor's facts are the exception: they are as long as the header is.

import { assertEquals, assertGreaterOrEqual, assertLessOrEqual } from "@std/assert";
import { projectFiles } from "../support/project_files.ts";

const MOST_LINES = 500;
const USUAL_LINES = 300;
const USUAL_SHARE = 0.9;
const MOST_MEDIAN_LINES = 150;

/** The vendor's facts, one row a function or a code. */
const TABLES = /^ffi\/[a-z]+\.ts$/;

/** Names that say nothing of what is inside. */
const VAGUE_NAME = /(^|[/_])(utils?|helpers?|managers?|common|misc)(?=[/_.])/;

/** Marks of unfinished code, in two halves so that this file does not match itself. */
const UNFINISHED = new RegExp(`\\b(${["TO" + "DO", "FIX" + "ME", "X" + "XX"].join("|")})\\b`);

const files = projectFiles([".ts", ".tsx", ".js", ".py", ".cpp"]);
const lineCounts = files.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }));

Deno.test("files have at most 500 lines, tables apart", () => {
  assertEquals(
    lineCounts.filter(({ path, lines }) => lines > MOST_LINES && !TABLES.test(path)),
    [],
  );
});

Deno.test("files have at most 300 lines in nine of ten cases", () => {
  const usual = lineCounts.filter(({ lines }) => lines <= USUAL_LINES).length;
  assertGreaterOrEqual(usual / lineCounts.length, USUAL_SHARE, longest(5));
});

Deno.test("files have a median of about 100 lines", () => {
  const sorted = lineCounts.map(({ lines }) => lines).sort((a, b) => a - b);
  assertLessOrEqual(sorted[Math.floor(sorted.length / 2)] ?? 0, MOST_MEDIAN_LINES, longest(10));
});

Deno.test("files are named for what they hold", () => {
  assertEquals(files.map(({ path }) => path).filter((path) => VAGUE_NAME.test(path)), []);
});

Deno.test("files are named in snake case", () => {
  const others = files.map(({ path }) => path).filter((path) => !/^[a-z0-9_./]+$/.test(path));
  assertEquals(others, []);
});

Deno.test("files say at the top what they are for", () => {
  const silent = files.filter(({ text }) => !/^(#!.*\n)?(\/\/|\/\*\*\n \*|#|""") ?\S/.test(text));
  assertEquals(silent.map(({ path }) => path), []);
});

Deno.test("files keep what is not finished out of the code", () => {
  const open = files.filter(({ text }) => UNFINISHED.test(text));
  assertEquals(open.map(({ path }) => path), []);
});

function longest(count: number): string {
  const sorted = lineCounts.toSorted((a, b) => b.lines - a.lines).slice(0, count);
  return `the longest: ${sorted.map(({ path, lines }) => `${path} (${lines})`).join(", ")}`;
}
