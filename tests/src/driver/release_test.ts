// Checks that giving back is tried in full, reported, and never thrown, whatever the driver refuses.

import { assertEquals, assertInstanceOf, assertStringIncludes, assertThrows } from "@std/assert";
import { CUresult } from "../../../ffi/constants.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { Driver } from "../../../src/driver/driver.ts";
import { releaseAll } from "../../../src/driver/release.ts";
import { CudaError } from "../../../src/words/errors.ts";
import { show } from "../../support/sweep/show.ts";
import { SweepDriver } from "../../support/sweep/sweep_driver.ts";
import { captureWarnings } from "../../support/warnings.ts";

const UNKNOWN = CUresult.CUDA_ERROR_UNKNOWN;

Deno.test("releaseAll() tries every release and reports each that fails", () => {
  const driver = Driver.open(simulateDriver());
  const done: string[] = [];
  const fail = (words: string) => () => {
    throw new Error(words);
  };
  const releases = [fail("one"), () => void done.push("two"), fail("three")];
  let isDone: boolean | undefined;
  const warnings = captureWarnings(() => isDone = releaseAll(driver, "it", releases));
  assertEquals([isDone, done], [false, ["two"]]);
  assertEquals(warnings, [
    "vramkit: it could not be given back: one",
    "vramkit: it could not be given back: three",
  ]);
});

Deno.test("CudaDevice.dispose() gives back the rest when one stream, block or context fails", () => {
  const kinds = ["cuStreamDestroy_v2", "cuEventDestroy_v2", "cuMemFreeHost"] as const;
  for (const name of kinds) {
    const driver = new SweepDriver(simulateDriver());
    const gpu = CudaDevice.open(0, { driver: driver.api });
    const host = gpu.pinned("uint8", 64);
    const stream = gpu.createStream();
    for (let i = 0; i < 50; i++) host.fill(i, { stream });
    host.dispose();
    stream.dispose();
    driver.arm({ name, nth: 1, status: UNKNOWN });
    const warnings = captureWarnings(() => gpu.dispose());
    assertEquals(driver.held.namesWithout(driver.excused), [], name);
    assertEquals(warnings.length, 1, name);
    assertStringIncludes(warnings[0] ?? "", name);
  }
});

Deno.test("CudaDevice.dispose() gives back the rest when a resource of the program fails", () => {
  const driver = new SweepDriver(simulateDriver());
  const gpu = CudaDevice.open(0, {
    driver: driver.api,
    resource: ({ context }) => ({
      context,
      isDeviceAccessible: true,
      isHostAccessible: false,
      allocate: () => 256n,
      deallocate: () => {},
      [Symbol.dispose]: () => {
        throw new Error("mine is stuck");
      },
    }),
  });
  const warnings = captureWarnings(() => gpu.dispose());
  assertEquals(warnings, [
    "vramkit: CudaDevice(0, Simulated) could not be given back: mine is stuck",
  ]);
  assertEquals(driver.held.namesWithout(new Set()), []);
});

Deno.test("A sticky error is what the program sees, and what follows is said once", () => {
  const driver = new SweepDriver(simulateDriver());
  let error: unknown;
  const warnings = captureWarnings(() => {
    error = assertThrows(() => {
      using device = CudaDevice.open(0, { driver: driver.api });
      using a = device.alloc("uint8", 64);
      using b = device.pinned("uint8", 64);
      using stream = device.createStream();
      using _event = device.createEvent();
      using _graph = device.capture(() => void a.fill(1));
      driver.arm({ name: "cuMemcpyAsync", nth: 1, status: 700 });
      a.copyFrom(b, { stream });
    });
  });
  assertInstanceOf(error, CudaError); // no SuppressedError
  assertEquals([error.code, error.call], [700, "cuMemcpyAsync"]);
  assertEquals(driver.held.namesWithout(driver.excused), []); // the context, too
  assertEquals(warnings.length, 1);
  assertStringIncludes(warnings[0] ?? "", "the GPU failed earlier in cuMemcpyAsync");
  assertStringIncludes(warnings[0] ?? "", "nor can what is disposed from here on");
});

Deno.test("CudaDevice and what it made can be shown after a sticky error", () => {
  const driver = new SweepDriver(simulateDriver());
  const gpu = CudaDevice.open(0, { driver: driver.api });
  const a = gpu.alloc("uint8", 64);
  const stream = gpu.createStream();
  const event = stream.record();
  driver.arm({ name: "cuMemsetD8Async", nth: 1, status: 700 });
  assertThrows(() => a.fill(1), CudaError);
  const shown = [gpu, gpu.live(), gpu.memoryResource, gpu.context, a, a.transpose(), stream, event];
  for (const value of shown) show(value);
  assertStringIncludes(Deno.inspect(gpu), "CudaDevice(0, Simulated) not readable: Cannot complete");
  captureWarnings(() => [event, stream, a, gpu].forEach((object) => object.dispose()));
});
