// Warnings where the console cannot be written: they are lost, and nothing else is.

import { assertEquals } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { Driver } from "../../../src/driver/driver.ts";
import { releaseAll } from "../../../src/driver/release.ts";
import { ProgressBar } from "../../../src/notebook/progress_bar.ts";
import { LogSurface } from "../../../src/notebook/progress_surfaces.ts";
import { warn } from "../../../src/words/warning.ts";
import { CaughtWarnings } from "../../support/warnings.ts";

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
