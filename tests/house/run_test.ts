// The runner of the suite counts every test of every process, and fails for each that fails.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { runDeno } from "../support/child_deno.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { inTurn } from "../support/test_unless.ts";

const TESTS = {
  "tests/a/good_test.ts": `Deno.test("good", async (t) => { await t.step("one", () => {}); });
    Deno.test({ name: "left out", ignore: true, fn() {} });`,
  "tests/b/good_test.ts": `Deno.test("of the seed", () => {
      if (Deno.env.get("VRAMKIT_TEST_SEED") !== "7") throw new Error("no seed");
    });`,
};

const BAD = {
  "tests/c/bad_test.ts": `Deno.test("bad", () => { throw new Error("wrong"); });`,
  "tests/c/broken_test.ts": `import "./missing.ts"; Deno.test("left out", () => {});`,
  "tests/d/killed_test.ts": `Deno.test("killed", () => Deno.kill(Deno.pid, "SIGKILL"));`,
  "tests/e/hanging_test.ts": `Deno.test("endless", () => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`,
};

Deno.test("run.ts passes when all tests do, and counts them", async () => {
  const { code, stdout } = await runIn(TESTS);
  assertEquals(code, 0, stdout);
  assertStringIncludes(stdout, "\nok | 2 passed (1 steps) | 0 failed | 1 ignored (");
});

Deno.test(
  inTurn("run.ts fails for tests that fail, end the process or hang, and names them"),
  async () => {
    const { code, stdout } = await runIn({ ...TESTS, ...BAD });
    assertEquals(code, 1, stdout);
    assertStringIncludes(stdout, "\nFAILED | 2 passed (1 steps) | 4 failed | 1 ignored (");
    const [errors = "", failures = ""] = stdout.split("\n FAILURES \n");
    assertStringIncludes(errors, "Error: wrong");
    assertStringIncludes(failures, "bad => ./tests/c/bad_test.ts:1:6");
    assertStringIncludes(failures, "tests/c/broken_test.ts loads");
    assertStringIncludes(failures, "tests/d: it ended without a summary at: killed ...");
    assertStringIncludes(failures, "tests/e: it ended without a summary at: endless ...");
  },
);

Deno.test("run.ts passes paths and flags on to deno test", async () => {
  const { code, stdout } = await runIn({ ...TESTS, ...BAD }, "tests/b", "--filter=seed");
  assertEquals(code, 0, stdout);
  assertStringIncludes(stdout, "ok | 1 passed | 0 failed");
});

/** Shortens the time that the runner gives a process. */
function quick(text: string): string {
  return text.replace(/(?<=MAX_PART_SECONDS = )\d+/, "10");
}

/** Runs the runner in a project of its own. */
async function runIn(files: Readonly<Record<string, string>>, ...args: string[]) {
  using folder = new TemporaryFolder();
  const own = [
    "tests/run.ts",
    "tests/support/loader.ts",
    "tests/support/project_files.ts",
    "tests/support/random.ts",
  ].map((path) => [path, quick(Deno.readTextFileSync(new URL(path, PROJECT_ROOT)))] as const);
  const all = [...own, ...Object.entries(files)];
  for (const [path, text] of all) {
    Deno.mkdirSync(folder.pathOf(path.split("/").slice(0, -1).join("/")), { recursive: true });
    folder.write(path, text);
  }
  const env = { VRAMKIT_TEST_SEED: "7" };
  return await runDeno(["run", "-A", "--no-config", "tests/run.ts", ...args], {
    cwd: folder.path,
    env,
  });
}
