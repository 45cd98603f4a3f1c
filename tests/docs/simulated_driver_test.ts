// The page about the simulated driver has the rules that the driver itself goes by, each in words.

import { assertEquals } from "@std/assert";
import { STRICTER } from "../../ffi/simulated/stricter.ts";
import { projectFiles } from "../support/project_files.ts";

/** Which table of the page has which kind of rule. */
const HEADINGS: Readonly<Record<string, keyof typeof STRICTER>> = {
  "## It throws a SimulationError": "throws",
  "## It refuses with a status": "refuses",
  "## It answers otherwise": "answers",
};

/** Reads the rows of the page's tables: kind, name and both columns. */
function readRules(page: string): string[][] {
  let kind = "";
  return page.split("\n").flatMap((line) => {
    kind = HEADINGS[line] ?? kind;
    const [, name = "", simulated = "", real = ""] = line.split("|").map((cell) => cell.trim());
    return name.startsWith("`") ? [[kind, name.replaceAll("`", ""), simulated, real]] : [];
  });
}

Deno.test("docs/simulated_driver.md puts every rule into words, and no other", () => {
  const [page] = projectFiles(["simulated_driver.md"], "docs/");
  const { throws, refuses, answers } = STRICTER;
  const rows = readRules(page?.text ?? "");
  assertEquals(rows.map(([kind, name]) => `${kind} ${name}`), [
    ...throws.map((name) => `throws ${name}`),
    ...refuses.map((name) => `refuses ${name}`),
    ...Object.keys(answers).map((name) => `answers ${name}`),
  ]);
  assertEquals(rows.filter(([, , simulated, real]) => simulated === "" || real === ""), []);
});

Deno.test("readRules() reads a row under its heading", () => {
  const page = "## It answers otherwise\n\n| rule | a | b |\n| --- | - | - |\n| `x` | y | z |";
  assertEquals(readRules(page), [["answers", "x", "y", "z"]]);
});
