// The page for people who come from torch.distributed: every line of its tables runs by itself and leaves
// nothing allocated, in one process or in two at once; coming_from_test.ts checks the types.

import { assertEquals } from "@std/assert";
import { runDeno } from "../support/child_deno.ts";
import { freeAddress } from "../support/group/rank_process.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOnLinux } from "../support/test_unless.ts";
import { programApart, programTogether } from "./torch_programs.ts";

const config = new URL("deno.json", PROJECT_ROOT).pathname;
const flags = ["-A", "--no-check", "--no-lock", "--config", config];

Deno.test("docs/from_torch_distributed.md has programs of one process that run and leave nothing allocated", async () => {
  using folder = new TemporaryFolder();
  const program = folder.write("rows.ts", programTogether());
  const result = await runDeno(["run", ...flags, program]);
  assertEquals(result.code, 0, result.stderr);
});

testOnLinux(
  "docs/from_torch_distributed.md has programs of two processes that run and leave nothing allocated",
  async () => {
    using folder = new TemporaryFolder();
    const program = folder.write("rows.ts", programApart());
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
