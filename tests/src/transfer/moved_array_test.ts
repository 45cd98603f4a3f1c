// Checks that an array can be moved away in the middle of a transfer: the transfer says so, and no
// thread reads or writes memory that is gone, which would end the process.

import { assertEquals } from "@std/assert";
import { runDeno } from "../../support/child_deno.ts";
import { PROJECT_ROOT } from "../../support/project_files.ts";
import { testOnLinux } from "../../support/test_unless.ts";

for (const direction of ["upload", "download"]) {
  for (const threads of ["driver", "lent threads", "lanes"]) {
    const name = `${direction}() by ${threads} rejects when its array is moved away`;

    testOnLinux(name, async () => {
      const flags = ["-A", "--quiet", "--v8-flags=--expose-gc"];
      const program = ["tests/support/moving_arrays.ts", direction, threads];
      const { code, stdout, stderr } = await runDeno(["run", ...flags, ...program], {
        cwd: PROJECT_ROOT,
      });
      assertEquals([code, stdout.trim().split("\n").at(-1), stderr], [0, "true", ""]);
    });
  }
}
