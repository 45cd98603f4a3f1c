// Files are named after what they hold, say what they are for, and hold nothing unfinished.

import { assertEquals } from "@std/assert";
import { projectFiles } from "../support/project_files.ts";

/** Names that say nothing of what is inside. */
const VAGUE_NAME = /(^|[/_])(utils?|helpers?|managers?|common|misc)(?=[/_.])/;

/** Marks of unfinished code, in two halves so that this file does not match itself. */
const UNFINISHED = new RegExp(`\\b(${["TO" + "DO", "FIX" + "ME", "X" + "XX"].join("|")})\\b`);

const files = projectFiles([".ts", ".tsx", ".js", ".py", ".cpp"]);

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

Deno.test("files have no notes of unfinished work", () => {
  const open = files.filter(({ text }) => UNFINISHED.test(text));
  assertEquals(open.map(({ path }) => path), []);
});
