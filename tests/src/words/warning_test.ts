// Warnings where the console cannot be written: they are lost, and nothing else is.

import { assertEquals, assertThrows } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../mod.ts";
import { Driver } from "../../../src/driver/driver.ts";
import { releaseAll } from "../../../src/driver/release.ts";
import { CudaMemoryResource, TrackingResourceAdaptor } from "../../../src/entries/memory.ts";
import { ProgressBar } from "../../../src/notebook/progress_bar.ts";
import { LogSurface } from "../../../src/notebook/progress_surfaces.ts";
import { warn } from "../../../src/words/warning.ts";
import { CaughtWarnings } from "../../support/warnings.ts";
import { testOnDevice } from "../../support/with_device.ts";

/** A console on a full disk, until it is disposed. */
function brokenConsole(): Disposable {
  const { warn, error } = console;
  console.warn = console.error = () => {
    throw new Error("No space left on device (os error 28)");
  };
  return { [Symbol.dispose]: () => Object.assign(console, { warn, error }) };
}

Deno.test("warn() begins with the kit's name", () => {
  using warnings = new CaughtWarnings();
  warn("the file is left");
  assertEquals(warnings.texts, ["vramkit: the file is left"]);
});

Deno.test("releaseAll() tries every release where the failure of one cannot be printed", () => {
  const done: string[] = [];
  const fail = () => {
    throw new Error("stuck");
  };
  using _console = brokenConsole();
  releaseAll(Driver.open(simulateDriver()), "it", [fail, () => void done.push("two"), fail]);
  assertEquals(done, ["two"]);
});

Deno.test("ProgressBar.update() lets a job go on where its lines cannot be printed", () => {
  using _console = brokenConsole();
  const bar = new ProgressBar("files", new LogSurface());
  bar.update(5, 10);
  bar.stop("stopped");
  bar.finish();
});

testOnDevice("gpu.onWarning hears the device's warnings, with what they are about", (gpu) => {
  using caught = new CaughtWarnings();
  const heard: [string, unknown][] = [];
  gpu.onWarning = (text, about) => void heard.push([text, about]);
  const context = gpu.context;
  warn("of the device", { owner: context, about: "block" });
  warn("of its driver", { owner: context.driver });
  warn("of nobody");
  warn("of another", { owner: {} });
  assertEquals(heard, [
    ["of the device", "block"],
    ["of its driver", undefined],
    ["of nobody", undefined],
  ]);
  assertEquals(caught.texts.splice(0), ["vramkit: of another"]);
  const tracking = new TrackingResourceAdaptor(new CudaMemoryResource(gpu));
  const address = tracking.allocate(16, gpu.stream);
  tracking.deallocate(address, 8, gpu.stream);
  assertEquals(heard.at(-1)?.[1], tracking);
  gpu.onWarning = () => {
    throw new Error("no logger");
  };
  warn("then", { owner: context });
  assertEquals(caught.texts.splice(0), [
    "vramkit: then",
    "vramkit: onWarning() failed: Error: no logger",
  ]);
  for (const wrong of [null, 5, "log", {}, class {}]) {
    assertThrows(() => gpu.onWarning = wrong as never, TypeError, "expected a function");
  }
  gpu.onWarning = undefined;
  assertEquals(gpu.onWarning, undefined);
  warn("on the console", { owner: context });
  assertEquals(caught.texts.splice(0), ["vramkit: on the console"]);
});

Deno.test("gpu.onWarning ends with its device", () => {
  using caught = new CaughtWarnings();
  const heard: string[] = [];
  const driver = simulateDriver();
  {
    using gpu = CudaDevice.open(0, { driver });
    gpu.onWarning = (text) => void heard.push(text);
    using other = CudaDevice.open(0, { driver });
    assertEquals(other.onWarning, gpu.onWarning);
  }
  warn("later");
  assertEquals([heard, caught.texts.splice(0)], [[], ["vramkit: later"]]);
});

Deno.test("gpu.onWarning hears of memory that could not be given back", () => {
  const heard: unknown[] = [];
  const driver = simulateDriver();
  let isFailing = true;
  const cuMemFreeAsync: NonNullable<typeof driver.cuMemFreeAsync> = (...parameters) => {
    return isFailing ? 1 : driver.cuMemFreeAsync?.(...parameters) ?? 0;
  };
  using gpu = CudaDevice.open(0, { driver: { ...driver, cuMemFreeAsync } });
  gpu.onWarning = (text, about) =>
    void heard.push([text.includes("could not be given back"), about]);
  gpu.alloc("uint8", 16, { label: "weights" }).dispose();
  isFailing = false;
  assertEquals(heard, [[true, "weights"]]);
});
