// The page for people who come from torch.distributed: every line of its tables compiles, runs by itself
// and leaves nothing allocated, in one process or in two at once.

import { assertEquals, assertGreater } from "@std/assert";
import { runDeno } from "../support/child_deno.ts";
import { type ExampleRow, programOf, readExampleRows } from "../support/example_table.ts";
import { freeAddress } from "../support/group/rank_process.ts";
import { PROJECT_ROOT, projectFiles } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOnLinux } from "../support/test_unless.ts";

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
const config = new URL("deno.json", PROJECT_ROOT).pathname;
const flags = ["-A", "--check", "--no-lock", "--config", config];

Deno.test("docs/from_torch_distributed.md has programs of one process that compile, run and leave nothing allocated", async () => {
  using folder = new TemporaryFolder();
  const runner = new URL("group_example_run.ts", import.meta.url);
  const names = "gpus, group, parts, others, wholes, spares, streams";
  const code = programOf(rowsOf(TOGETHER), { runner, names, imports });
  const result = await runDeno(["run", ...flags, folder.write("rows.ts", code)]);
  assertEquals(result.code, 0, result.stderr);
});

testOnLinux(
  "docs/from_torch_distributed.md has programs of two processes that compile, run and leave nothing allocated",
  async () => {
    using folder = new TemporaryFolder();
    const runner = new URL("rank_example_run.ts", import.meta.url);
    const names = "gpu, rank, size, group, rendezvous, token, x, y, whole, spare, stream";
    const code = programOf(rowsOf(APART), { runner, names, imports });
    const program = folder.write("rows.ts", code);
    const port = new URL(freeAddress().replace("tcp:", "http:")).port;
    const results = await Promise.all([0, 1].map((rank) => {
      const env = {
        RANK: `${rank}`,
        WORLD_SIZE: "2",
        MASTER_ADDR: "127.0.0.1",
        MASTER_PORT: port,
        VRAMKIT_TOKEN: "the token of these examples",
        EXAMPLE_FOLDER: folder.path,
      };
      return runDeno(["run", ...flags, program], { env });
    }));
    assertEquals(
      results.map(({ code }) => code),
      [0, 0],
      results.map((each) => each.stderr).join(),
    );
  },
);
