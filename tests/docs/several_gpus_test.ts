// The page about several GPUs: every line of its table for people who come from torch.distributed
// compiles, runs by itself and leaves nothing allocated.

import { assertEquals, assertGreater } from "@std/assert";
import { runDeno } from "../support/child_deno.ts";
import { readExampleRows } from "../support/example_table.ts";
import { PROJECT_ROOT, projectFiles } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

const HEADING = "## From torch.distributed";

Deno.test("docs/several_gpus.md has programs that compile, run and leave nothing allocated", async () => {
  const [page] = projectFiles(["several_gpus.md"], "docs/");
  const text = page?.text.slice(page.text.indexOf(HEADING)) ?? "";
  const rows = readExampleRows(text);
  const lines = text.split("\n").filter((line) => /^\| `.*`.*\| `/.test(line));
  assertGreater(rows.length, 15);
  assertEquals(rows.length, lines.length);
  const runner = new URL("group_example_run.ts", import.meta.url).href;
  const parts = rows.map(({ name, code }) =>
    `await runGroupExample(${JSON.stringify(name)}, async (names) => {
  const { gpus, group, parts, others, wholes, spares, streams } = names;
  void [gpus, group, parts, others, wholes, spares, streams];
  await Promise.resolve();
  ${code};
});`
  );
  using folder = new TemporaryFolder();
  const program = folder.write(
    "rows.ts",
    [
      `import { runGroupExample } from ${JSON.stringify(runner)};`,
      `import { GroupError } from "vramkit/group";`,
      ...parts,
    ].join("\n"),
  );
  const config = new URL("deno.json", PROJECT_ROOT).pathname;
  const flags = ["-A", "--check", "--no-lock", "--config", config];
  const { code, stderr } = await runDeno(["run", ...flags, program]);
  assertEquals(code, 0, stderr);
});
