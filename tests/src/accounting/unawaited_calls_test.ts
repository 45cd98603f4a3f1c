// Checks that a notebook shows the errors of calls that nobody awaited, and only those of the kit.

import { assertEquals } from "@std/assert";
import { evaluate } from "../../support/child_deno.ts";

/** A program that the kit takes for a cell, and which, as the kernel, goes on after such an error. */
const CELL = `
  const jupyter = { display: async () => {} };
  const kernel = Object.create(Deno, { jupyter: { value: jupyter } });
  Object.defineProperty(globalThis, "Deno", { value: kernel });
  addEventListener("unhandledrejection", (event) => event.preventDefault());
  const { CudaDevice } = await import("./mod.ts");
  const gpu = CudaDevice.open(0, { driver: "simulated" });
  CudaDevice.open(0, { driver: "simulated" });
  const x = gpu.zeros("float32", 4, { label: "x" });
  x.upload(new Float32Array(3));
  Promise.reject(new Error("of the program's own"));
  Promise.reject("no error");
  await x.upload(new Float32Array(3)).catch(() => {});
  await gpu.synchronize();
  x.dispose();
`;

Deno.test("a notebook is told once of a call that was not awaited and failed", async () => {
  const { code, stderr } = await evaluate(CELL);
  assertEquals([code, stderr], [
    0,
    "vramkit: a call that was not awaited failed: Cannot upload to DeviceBuffer(x, float32[4]): " +
    "the array has 12 bytes, the buffer 16 (4 elements)\n",
  ]);
});
