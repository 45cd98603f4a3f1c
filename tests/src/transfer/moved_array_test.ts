// Checks that an array can be moved away in the middle of a transfer: the transfer says so, and no
// thread reads or writes memory that is gone, which would end the process.

import { assertEquals } from "@std/assert";
import { runDeno } from "../../support/child_deno.ts";
import { PROJECT_ROOT } from "../../support/project_files.ts";
import { takingTurns, testOnLinux } from "../../support/test_unless.ts";

for (const threads of ["driver", "lent threads", "lanes"]) {
  takingTurns(testOnLinux)(
    `transfers by ${threads} reject when their array is moved away`,
    async () => {
      const flags = ["-A", "--quiet", "--v8-flags=--expose-gc"];
      const program = ["tests/support/moving_arrays.ts", threads];
      const { code, stdout, stderr } = await runDeno(["run", ...flags, ...program], {
        cwd: PROJECT_ROOT,
      });
      assertEquals([code, stdout.trim().split("\n").at(-1), stderr], [0, "true", ""]);
    },
  );
}
