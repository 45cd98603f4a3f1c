// Where Python is looked for, and what is said where it cannot be started: in processes of their own.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runWith } from "../../support/child_deno.ts";
import { tryPython } from "../../support/python_in_process.ts";
import { testUnless } from "../../support/test_unless.ts";

const ENTRY = import.meta.resolve("../../../src/entries/python.ts");

/** Starts Python in another process and returns what it prints. */
async function start(
  options: string,
  { env = {}, flags = ["-A"] }: {
    readonly env?: Record<string, string>;
    readonly flags?: readonly string[];
  } = {},
): Promise<string> {
  const { stdout, stderr } = await runWith(
    flags,
    `import { startPython } from ${JSON.stringify(ENTRY)};
     try {
       const python = startPython(${options});
       console.log(python.executable, python.evaluate("1 + 1"), startPython() === python);
     } catch (error) {
       console.log(error.name, error.tried?.length, error.message);
     }`,
    { VIRTUAL_ENV: "", CONDA_PREFIX: "", ...env },
  );
  assert(stdout !== "", stderr);
  return stdout.trim();
}

Deno.test("startPython() says which files it tried", async () => {
  const words = await start(`{ libraryPath: "/nowhere/libpython3.so" }`);
  assertEquals(words.slice(0, 24), "PythonUnavailableError 1");
  assertStringIncludes(words, "Cannot open Python: tried /nowhere/libpython3.so");
  const named = await start("{}", { env: { VRAMKIT_LIBPYTHON: "/nowhere/other.so" } });
  assertStringIncludes(named, "tried /nowhere/other.so");
});

Deno.test("startPython() says when a permission or a part of the library is missing", async () => {
  const denied = await start("{}", { flags: ["--allow-read", "--allow-env"] });
  assertStringIncludes(denied, "run again with --allow-ffi");
  const wrong = await start(`{ libraryPath: "libc.so.6" }`);
  assertStringIncludes(wrong, "libc.so.6 cannot be used (undefined symbol: Py");
});

Deno.test("startPython() refuses options that it does not know", async () => {
  assertStringIncludes(await start("{ path: '/x' }"), "TypeError");
  assertStringIncludes(await start("{ executable: 5 }"), "TypeError");
});

const python = tryPython();
const reason = typeof python === "string" ? python : undefined;

testUnless(
  "startPython() takes the program that is named, or the environment's",
  reason,
  async () => {
    const { executable, libraryPath } = python as Exclude<typeof python, string>;
    const expected = `${executable} 2 true`;
    const env = { VRAMKIT_PYTHON: "" };
    const option = `{ executable: ${JSON.stringify(executable)} }`;
    assertEquals(await start(option, { env }), expected);
    const named = { VRAMKIT_PYTHON: executable, VRAMKIT_LIBPYTHON: libraryPath };
    assertEquals(await start("{}", { env: named }), expected);
    // Without the permission to run it, its folders are looked at.
    const flags = ["--allow-ffi", "--allow-read", "--allow-env"];
    assertEquals(await start("{}", { env: named, flags }), expected);
  },
);
