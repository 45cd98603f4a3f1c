// The pages for people who come from another system: every row's program compiles, runs by itself
// and leaves nothing allocated.

import { assertEquals, assertGreater } from "@std/assert";
import * as kit from "../../mod.ts";
import * as memory from "../../src/entries/memory.ts";
import * as safetensors from "../../src/entries/safetensors.ts";
import { runDeno } from "../support/child_deno.ts";
import { type ExampleRow, programOf, readExampleRows } from "../support/example_table.ts";
import { PROJECT_ROOT, projectFiles } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOfAll } from "../support/test_unless.ts";
import { programApart, programTogether } from "./torch_programs.ts";

const CONFIG = new URL("deno.json", PROJECT_ROOT).pathname;

// That of torch.distributed has tables and names of its own, and a test of its own.
const pages = projectFiles([".md"], "docs/").filter(({ path }) =>
  path.startsWith("docs/from_") && path !== "docs/from_torch_distributed.md"
);

Deno.test("readExampleRows() reads a program with an escaped bar", () => {
  const page = "| a | here |\n| - | - |\n| `x` | `f(1 \\|\\| 2)` | c |\n| y | words | c |";
  assertEquals(readExampleRows(page), [{ name: "`x`", code: "f(1 || 2)" }]);
});

Deno.test("docs have a table for each of the nine systems", () => {
  const systems = ["cuda_core", "cuda_driver", "cupy", "pytorch", "rmm", "zinc_kaio_oxicuda_morok"];
  assertEquals(pages.map(({ path }) => path), systems.map((name) => `docs/from_${name}.md`));
  const headings = pages.at(-1)?.text.match(/(?<=^## )\w+/gm);
  assertEquals(headings, ["zinc", "kaio", "oxicuda", "morok"]);
});

for (const { path, text } of pages) {
  Deno.test(`${path} has a program in every row`, () => {
    const lines = text.split("\n").filter((line) => /^\| (?!-)/.test(line));
    assertGreater(lines.length, 10);
    const headCount = text.split("\n").filter((line) => /^\| -/.test(line)).length;
    assertEquals(readExampleRows(text).length, lines.length - headCount);
  });
}

Deno.test("docs have programs that run and leave nothing allocated", async () => {
  using folder = new TemporaryFolder();
  const flags = ["-A", "--no-check", "--no-lock", "--config", CONFIG];
  const { code, stderr } = await runDeno(["run", ...flags, writeRows(folder)]);
  assertEquals(code, 0, stderr);
});

testOfAll("docs have programs that compile", async () => {
  using folder = new TemporaryFolder();
  const { code, stderr } = await runDeno([
    ...["check", "--no-lock", "--config", CONFIG, writeRows(folder)],
    folder.write("together.ts", programTogether()),
    folder.write("apart.ts", programApart()),
  ]);
  assertEquals(code, 0, stderr);
});

/** Writes the programs of all rows as one, and returns its path. */
function writeRows(folder: TemporaryFolder): string {
  const rows = pages.flatMap(({ path, text }) =>
    readExampleRows(text).map(({ name, code }) => ({ name: `${name} in ${path}`, code }))
  );
  const runner = new URL("example_run.ts", import.meta.url);
  const names = "gpu, other, stream, a, b, values, ptr";
  const program = programOf(rows, { runner, names, imports: importsOf(kitNames(rows)) });
  return folder.write("rows.ts", program);
}

/** Imports each name from the root where it has it, else from the entry that does. */
function importsOf(names: readonly string[]): string[] {
  const ofMemory = names.filter((name) => name in memory && !(name in kit));
  const ofSafetensors = names.filter((name) => name in safetensors && !(name in kit));
  const others = names.filter((name) => ![...ofMemory, ...ofSafetensors].includes(name));
  return [
    `import { ${others.join(", ")} } from "vramkit";`,
    `import { ${ofMemory.join(", ")} } from "vramkit/memory";`,
    `import { ${ofSafetensors.join(", ")} } from "vramkit/safetensors";`,
  ];
}

/** The names of the kit that the programs use: classes and types, and three functions. */
function kitNames(rows: readonly ExampleRow[]): string[] {
  const words = rows.flatMap(({ code }) =>
    code.replaceAll(/"[^"]*"/g, "").match(
      /\b([A-Z]\w+|formatBytes|parseAllocationLog|replayAllocations)\b/g,
    ) ?? []
  );
  return [...new Set(words)].filter((word) => !(word in globalThis));
}
