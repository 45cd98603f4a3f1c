// A device for the length of one test, and the check that the test left nothing behind:
// no live object, no device memory, no context on the thread.

import { assertEquals, assertGreaterOrEqual } from "@std/assert";
import type { DriverApi } from "../../ffi/cuda.ts";
import { CudaDevice } from "../../src/device/device.ts";
import { ON_GPU, testDriver } from "./driver.ts";
import { CaughtWarnings } from "./warnings.ts";

/** The memory that a driver takes at the first use of a call and keeps, as for a fill's kernel. */
const DRIVER_OWN_BYTES = ON_GPU ? 256 * 2 ** 20 : 0;

/** The memory a real driver takes now and then over many rounds: less than two of their buffers. */
const ROUNDS_OWN_BYTES = 8 * 2 ** 20;

/** Checks that rounds have left the device's memory as it was. */
export function checkSteady(gpu: CudaDevice, freeBefore: number): void {
  const free = freeBytes(gpu);
  if (ON_GPU) assertGreaterOrEqual(free, freeBefore - ROUNDS_OWN_BYTES, "device memory is missing");
  else assertEquals(free, freeBefore, "device memory is missing");
}

/** Opens a device, runs a test on it, and fails when the test leaves anything live on it. */
export async function withDevice(
  body: (gpu: CudaDevice) => unknown,
  options: { readonly driver?: DriverApi } = {},
): Promise<void> {
  const driver = options.driver ?? testDriver();
  using gpu = CudaDevice.open(0, { driver });
  await checkNothingLeft(gpu, () => body(gpu));
}

/** Registers a test on a device of its own, which fails when the test leaves anything live on it. */
export function testOnDevice(name: string, body: (gpu: CudaDevice) => unknown): void {
  Deno.test(name, () => withDevice(body));
}

/** Runs a test on a device that is open, and fails when the test leaves anything live on it. */
export async function checkNothingLeft(gpu: CudaDevice, body: () => unknown): Promise<void> {
  const namesBefore = liveNames(gpu);
  const freeBefore = freeBytes(gpu);
  using warnings = new CaughtWarnings();
  await body();
  assertEquals(liveNames(gpu), namesBefore, "the test left something live");
  gpu.synchronizeSync();
  await gpu.context.returning; // threads that kept registered arrays
  assertGreaterOrEqual(freeBytes(gpu), freeBefore - DRIVER_OWN_BYTES, "device memory is missing");
  assertEquals(warnings.texts, [], "the test was warned");
}

/** Names what is live on a device. */
export function liveNames(gpu: CudaDevice): string[] {
  return gpu.live().objects.map(({ name }) => name);
}

/** Reads the device's free bytes once all queued work, frees included, is done. */
export function freeBytes(gpu: CudaDevice): number {
  gpu.synchronizeSync();
  gpu.context.sweep();
  return gpu.context.freeBytes();
}
