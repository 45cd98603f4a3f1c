// Options may be undefined: programs pass on what they have, and the compiler's strictest setting
// (exactOptionalPropertyTypes) tells a property that is left out from one that is undefined.

import { assertEquals, assertGreater } from "@std/assert";
import { projectFiles } from "../support/project_files.ts";

const OPTIONS = /export interface (\w+(?:Options|Query|Tuning|Reuse|Choice))\b[^{]*\{\n(.*?)\n\}/gs;
const OPTIONAL = /^ {2}readonly (\w+)\?: ((?:[^;{}]|\{[^{}]*\})+);/gm;

Deno.test("Every option that may be left out may be undefined", () => {
  const strict: string[] = [];
  let count = 0;
  for (const { text } of projectFiles([".ts"], "src/")) {
    for (const [, name, body = ""] of text.matchAll(OPTIONS)) {
      for (const [, option, type = ""] of body.matchAll(OPTIONAL)) {
        count++;
        if (!/\b(undefined|unknown|never)$/.test(type)) strict.push(`${name}.${option}`);
      }
    }
  }
  assertGreater(count, 150);
  assertEquals(strict, []);
});
