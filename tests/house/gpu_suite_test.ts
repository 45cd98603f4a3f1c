// `deno task test:gpu` must fail where there is no GPU: a suite that skips itself proves nothing.
// The child process is pointed at a library that is not there, so this also holds on a GPU machine.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { runDeno } from "../support/child_deno.ts";
import { ON_GPU, openTestDevice } from "../support/driver.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

Deno.test("openTestDevice() opens the kind of device that the suite was asked to run on", () => {
  using gpu = openTestDevice();
  assertEquals(gpu.info.name !== "Simulated", ON_GPU);
});

Deno.test("testDriver() fails the test when the GPU's driver is missing", async () => {
  const { code, stdout } = await runSuite({
    VRAMKIT_TEST_DRIVER: "cuda",
    VRAMKIT_CUDA: "/nowhere/libcuda.so.1",
  });
  assertEquals(code, 1);
  assertStringIncludes(stdout, "/nowhere/libcuda.so.1");
  assertStringIncludes(stdout, "0 passed | 1 failed");
});

Deno.test("testDriver() needs no GPU on the simulated driver", async () => {
  const { code, stdout } = await runSuite({ VRAMKIT_TEST_DRIVER: "simulated" });
  assertStringIncludes(stdout, "1 passed | 0 failed");
  assertEquals(code, 0);
});

Deno.test("testDriver() refuses a driver that it does not know", async () => {
  const { code, stdout } = await runSuite({ VRAMKIT_TEST_DRIVER: "gpu" });
  assertStringIncludes(stdout, `VRAMKIT_TEST_DRIVER is "gpu"`);
  assertEquals(code, 1);
});

/** Runs a suite of one test that opens a device. */
async function runSuite(
  env: Record<string, string>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  using folder = new TemporaryFolder();
  const support = new URL("tests/support/driver.ts", PROJECT_ROOT).href;
  const suite = folder.write(
    "device_test.ts",
    `import { openTestDevice } from ${JSON.stringify(support)};
     Deno.test("opens", () => { using gpu = openTestDevice(); console.log(gpu.ordinal); });`,
  );
  const config = new URL("deno.json", PROJECT_ROOT).pathname;
  return await runDeno(["test", "-A", "--no-check", "--no-lock", "--config", config, suite], {
    env,
  });
}
