// The programs in the tables of the page for people who come from torch.distributed.

import { assertEquals, assertGreater } from "@std/assert";
import { type ExampleRow, programOf, readExampleRows } from "../support/example_table.ts";
import { projectFiles } from "../support/project_files.ts";

const APART = "## A process for each rank";
const TOGETHER = "## One process";

const [page] = projectFiles(["from_torch_distributed.md"], "docs/");
const text = page?.text ?? "";

/** Reads the rows of one of the page's parts, all of which have a program. */
function rowsOf(heading: string): ExampleRow[] {
  const part = text.slice(text.indexOf(heading) + 1).split("\n## ")[0] ?? "";
  const rows = readExampleRows(part);
  const lines = part.split("\n").filter((line) => /^\| `.*`.*\| `/.test(line));
  assertGreater(rows.length, 15);
  assertEquals(rows.length, lines.length);
  return rows;
}

const imports = [
  `import { CudaDevice } from "vramkit";`,
  `import { GroupError, joinGroup } from "vramkit/group";`,
  `void [CudaDevice, joinGroup];`,
];
/** Returns the program of one process. */
export function programTogether(): string {
  const runner = new URL("group_example_run.ts", import.meta.url);
  const names = "gpus, group, parts, others, wholes, spares, streams";
  return programOf(rowsOf(TOGETHER), { runner, names, imports });
}

/** Returns the program that two processes run at once. */
export function programApart(): string {
  const runner = new URL("rank_example_run.ts", import.meta.url);
  const names = "gpu, rank, size, group, rendezvous, token, x, y, whole, spare, stream";
  return programOf(rowsOf(APART), { runner, names, imports });
}
