// Checks that a worker can be terminated in the middle of a transfer: its arrays are freed then, and
// a lane that still copied them would end the whole process.

import { assertEquals } from "@std/assert";
import { runDeno } from "../../support/child_deno.ts";
import { PROJECT_ROOT } from "../../support/project_files.ts";
import { inTurn } from "../../support/test_unless.ts";

Deno.test(
  inTurn("TransferEngine.run() lets its worker be terminated, and leaves no lane behind"),
  async () => {
    const program = "tests/support/terminating_program.ts";
    const { code, stdout, stderr } = await runDeno(["run", "-A", "--quiet", program], {
      cwd: PROJECT_ROOT,
    });
    assertEquals([code, stderr], [0, ""]);
    assertEquals(JSON.parse(stdout), { back: [1, 2, 3], left: 0 });
  },
);
