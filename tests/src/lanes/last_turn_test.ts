// Checks that a program that fails in the middle of a transfer says so: its arrays are freed before
// its message is printed, and a thread that still used one would end the process without a word.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { runDeno } from "../../support/child_deno.ts";
import { PROJECT_ROOT } from "../../support/project_files.ts";
import { shareOf } from "../../support/random.ts";
import { inTurn } from "../../support/test_unless.ts";

/** Moments of the programs' ends; a run that is not whole tries two. */
const RUNS = shareOf([...Array(8).keys()], { least: 2 });

Deno.test(
  inTurn("TransferEngine lets a program fail in words in the middle of a transfer"),
  async () => {
    for (const run of RUNS) {
      const program = ["tests/support/failing_transfers.ts", String(20 + 47 * run)];
      const { code, stderr } = await runDeno(["run", "-A", "--quiet", ...program], {
        cwd: PROJECT_ROOT,
      });
      assertEquals(code, 1);
      assertStringIncludes(stderr, "nobody catches this");
    }
  },
);
