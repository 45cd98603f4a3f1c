// Stacks of errors name the line of the program that made the call, however deep the error came up.

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { CudaDevice, OutOfMemoryError } from "../../../mod.ts";
import { simulateDriver, SimulationError } from "../../../src/entries/simulated.ts";
import { withCallers } from "../../../src/words/callers.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testOnDevice } from "../../support/with_device.ts";

Deno.test("OutOfMemoryError of an upload that the driver refuses names the program's line", async () => {
  using gpu = CudaDevice.open(0, { driver: simulateDriver({ memorySize: "64 MiB" }) });
  using _held = gpu.alloc("uint8", 2 ** 25);
  const fillCache = async () => await gpu.upload(new Uint8Array(2 ** 25 + 2 ** 24));
  const error = await assertRejects(fillCache, OutOfMemoryError);
  assertStringIncludes(error.stack ?? "", "fillCache");
});

testOnDevice("loadSafetensors() of a missing file names the program's line", async (gpu) => {
  using folder = new TemporaryFolder();
  const loadCheckpoint = async () => await gpu.loadSafetensors(`${folder.path}/none`);
  const error = await assertRejects(loadCheckpoint, Deno.errors.NotFound);
  assertStringIncludes(error.stack ?? "", "loadCheckpoint");
});

Deno.test("SimulationError names the program's line, and none of the simulated driver", async () => {
  using gpu = CudaDevice.open(0, { driver: simulateDriver() });
  using x = gpu.alloc("float32", 4); // nobody has written it
  using y = gpu.alloc("float32", 4);
  const useUnwritten = [
    async function useByDownload() {
      await x.download();
    },
    async function useByCopy() {
      await y.copyFrom(x).download();
    },
    async function useByConversion() {
      using z = x.astype("int8");
      await z.download();
    },
  ];
  for (const use of useUnwritten) {
    const { stack = "" } = await assertRejects(use, SimulationError, "nobody has written");
    assertStringIncludes(stack, use.name);
    assertEquals(stack.includes("ffi/simulated/"), false);
  }
});

Deno.test("withCallers() leaves the length of stacks as it was, and one that a program chose", () => {
  const depth = (left: number): string[] =>
    left > 0 ? depth(left - 1) : withCallers(() => new Error().stack?.split("\n") ?? []);
  const { stackTraceLimit } = Error;
  assertEquals(depth(40).length, 31);
  assertEquals(Error.stackTraceLimit, stackTraceLimit);
  try {
    Error.stackTraceLimit = 3;
    assertEquals(depth(40).length, 4);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
});
