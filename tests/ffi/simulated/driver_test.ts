// The simulated driver as a whole: its functions, start-up, devices and contexts.
// Calls that are refused are steps of the scripts in tests/support/recording/, as in the files beside.

import { assertEquals, assertThrows } from "@std/assert";
import { CUDA } from "../../../ffi/cuda.ts";
import { simulateDriver, SimulationError } from "../../../ffi/simulated/driver.ts";
import { out, SimulatedGpu, testSimulated } from "../../support/simulated_gpu.ts";

Deno.test("simulateDriver() has every function of the table", () => {
  const api: Record<string, unknown> = simulateDriver();
  const missing = Object.keys(CUDA).filter((name) => typeof api[name] !== "function");
  assertEquals(missing, []);
});

Deno.test("simulateDriver() lacks the functions that came after its version", () => {
  const api = simulateDriver({ driverVersion: 12040 });
  assertEquals(api.cuMemcpyBatchAsync, null);
  assertEquals(typeof api.cuMemAllocAsync, "function");
});

Deno.test("simulateDriver() lets a test replace one function by spreading", () => {
  const api = { ...simulateDriver(), cuMemFree_v2: () => 700 };
  assertEquals(api.cuInit(0), 0);
  assertEquals(api.cuMemFree_v2(), 700);
});

Deno.test("cuInit() reports a machine without devices", () => {
  assertEquals(simulateDriver({ devices: 0 }).cuInit(0), 100);
});

Deno.test("cuDeviceGetName() says that the device is simulated", () => {
  const name = new Uint8Array(64);
  assertEquals(new SimulatedGpu().api.cuDeviceGetName(name, 64, 0), 0);
  assertEquals(new TextDecoder().decode(name.subarray(0, name.indexOf(0))), "Simulated");
});

Deno.test("cuGetErrorString() points at a text for a status code", () => {
  const pointer = Deno.UnsafePointer.create(
    out((cell) => simulateDriver().cuGetErrorString(2, cell)),
  );
  assertEquals(pointer && Deno.UnsafePointerView.getCString(pointer), "out of memory");
});

testSimulated("cuCtxPopCurrent_v2() brings back the context below", (gpu) => {
  gpu.api.cuCtxPushCurrent_v2(gpu.retain(1));
  gpu.api.cuCtxPopCurrent_v2(null);
  assertEquals(out((cell) => gpu.api.cuCtxGetCurrent(cell)), gpu.context);
});

Deno.test("cuDevicePrimaryCtxRelease_v2() keeps the context while another user holds it", () => {
  const gpu = new SimulatedGpu();
  gpu.retain(0);
  assertEquals(gpu.api.cuDevicePrimaryCtxRelease_v2(0), 0);
  gpu.alloc(256);
});

testSimulated("cuDevicePrimaryCtxRelease_v2() destroys the context with its last user", (gpu) => {
  gpu.alloc(256);
  const stream = gpu.stream();
  assertEquals(gpu.api.cuDevicePrimaryCtxRelease_v2(0), 0);
  assertEquals(gpu.api.cuMemAlloc_v2(new BigUint64Array(1), 256n), 709);
  assertEquals(gpu.api.cuCtxSetCurrent(gpu.context), 0);
  assertEquals(gpu.api.cuMemAlloc_v2(new BigUint64Array(1), 256n), 709);
  assertEquals(gpu.api.cuStreamQuery(stream), 400);
  gpu.api.cuCtxSetCurrent(gpu.retain(0));
  assertEquals(gpu.freeBytes(), 8 * 2 ** 30);
});

Deno.test("SimulationError names the call and the rule that only the simulated driver has", () => {
  const gpu = new SimulatedGpu();
  const address = gpu.alloc(256);
  const error = assertThrows(() => gpu.api.cuMemsetD8Async(address, 1, 257n, 0n), SimulationError);
  assertEquals([error.call, error.rule], ["cuMemsetD8Async", "bounds"]);
});
