// The words of the Jupyter tasks where Jupyter is missing, and the kernel that they use.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { runDeno } from "../support/child_deno.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";

const KERNEL = new URL("jupyter/kernels/deno/kernel.json", PROJECT_ROOT);

for (const program of ["notebooks.ts", "lab.ts"]) {
  Deno.test(`jupyter/${program} says how to get Jupyter when there is none`, async () => {
    const file = new URL(`jupyter/${program}`, PROJECT_ROOT).href;
    const { code, stderr } = await runDeno(["run", "-A", "--no-lock", file], {
      env: { VRAMKIT_PYTHON: "/nowhere/python3" },
    });
    assertEquals(code, 1);
    assertEquals(stderr.indexOf("Cannot find Jupyter: no "), 0);
    assertStringIncludes(stderr, 'install it into this project with "deno task jupyter"');
  });
}

Deno.test("the kernel is interrupted by message, since a signal would end it", () => {
  const { argv, interrupt_mode } = JSON.parse(Deno.readTextFileSync(KERNEL));
  assertEquals(interrupt_mode, "message");
  assertEquals(argv, ["deno", "jupyter", "--kernel", "--conn", "{connection_file}"]);
});
