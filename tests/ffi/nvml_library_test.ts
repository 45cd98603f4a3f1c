// Where NVML is looked for, and that a program is told and never asked when it cannot be had.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { findNvml } from "../../ffi/nvml_library.ts";
import { runDeno } from "../support/child_deno.ts";
import { driverWithNvml } from "../support/fake_nvml.ts";

const PROGRAM = new URL("../support/nvml_program.ts", import.meta.url).pathname;

/** Looks for the system's NVML in a child, and prints why it cannot be had. */
async function whyAbsent(flags: readonly string[], env: Record<string, string>): Promise<string> {
  const { stdout, stderr } = await runDeno(
    ["run", "--quiet", "--no-check", "--allow-read", ...flags, PROGRAM],
    { env },
  );
  assertEquals(stderr, "");
  return stdout;
}

Deno.test("findNvml() takes what comes with the driver", () => {
  const { api, isModelled } = findNvml(driverWithNvml());
  assertEquals([api.nvmlInit_v2(), isModelled], [0, true]);
});

const CASES: Record<string, [flags: string[], path: string, words: string]> = {
  "tries nothing but what VRAMKIT_NVML names": [
    ["--allow-ffi", "--allow-env"],
    "/nowhere/nvml.so",
    "no-library: Cannot open NVML: tried /nowhere/nvml.so; it comes with NVIDIA's driver",
  ],
  "says that a file is not the library": [
    ["--allow-ffi", "--allow-env"],
    PROGRAM,
    "bad-library: Cannot open NVML: ",
  ],
  "says that a permission is missing": [
    ["--allow-env"],
    "/nowhere/nvml.so",
    "permission: Cannot open NVML: access to native libraries is not granted",
  ],
};

for (const [name, [flags, path, words]] of Object.entries(CASES)) {
  Deno.test(`findNvml() ${name}`, async () => {
    assertStringIncludes(await whyAbsent(flags, { VRAMKIT_NVML: path }), words);
  });
}
