// The page about the simulated driver has the list that the driver itself goes by, rule for rule.

import { assertEquals } from "@std/assert";
import { STRICTER, type Strictness } from "../../ffi/simulated/stricter.ts";
import { projectFiles } from "../support/project_files.ts";

/** Which table of the page has which kind of rule. */
const HEADINGS: Readonly<Record<string, Strictness["kind"]>> = {
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

Deno.test("docs/simulated_driver.md has every rule, in its words", () => {
  const [page] = projectFiles(["simulated_driver.md"], "docs/");
  const rules = Object.entries(STRICTER)
    .map(([name, { kind, simulated, real }]) => [kind, name, simulated, real]);
  assertEquals(readRules(page?.text ?? ""), rules);
});

Deno.test("readRules() reads a row under its heading", () => {
  const page = "## It answers otherwise\n\n| rule | a | b |\n| --- | - | - |\n| `x` | y | z |";
  assertEquals(readRules(page), [["answers", "x", "y", "z"]]);
});
