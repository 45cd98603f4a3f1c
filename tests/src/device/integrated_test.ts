// An integrated GPU, which has no memory of its own: free memory is the system's, said in each message, and
// values that NVML does not support are missing and no error.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { DriverApi } from "../../../ffi/cuda.ts";
import { OWN, ownParts } from "../../../ffi/own_parts.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { availableBytes } from "../../../ffi/system_memory.ts";
import { deviceCard } from "../../../src/cards/device_card.ts";
import { systemCard } from "../../../src/cards/system_card.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import { OutOfMemoryError } from "../../../src/words/errors.ts";
import { withDevice } from "../../support/with_device.ts";

const GIBIBYTE = 2 ** 30;
const MACHINE = { devices: 1, memoryBytes: 8 * GIBIBYTE, integrated: true } as const;

/** Reads the free bytes that the driver itself tells. */
function driverFreeBytes(gpu: CudaDevice): number {
  const [free, total] = [new BigUint64Array(1), new BigUint64Array(1)];
  gpu.context.driver.api.cuMemGetInfo_v2(free, total);
  return Number(free[0]);
}

Deno.test("gpu.memory of an integrated GPU counts the page cache as free, and says so", () =>
  withDevice((gpu) => {
    const { freeBytes, isSystemMemory, totalBytes } = gpu.memory;
    assertEquals([freeBytes, totalBytes, isSystemMemory], [8 * GIBIBYTE, 8 * GIBIBYTE, true]);
    assertEquals(driverFreeBytes(gpu), 6 * GIBIBYTE);
    assertStringIncludes(deviceCard(gpu).summary, "8 GiB of 8 GiB free in the system's memory");
    using _buffer = gpu.alloc("uint8", GIBIBYTE);
    assertEquals(gpu.memory.freeBytes, 7 * GIBIBYTE);
  }, { driver: simulateDriver(MACHINE) }));

Deno.test("gpu.memory of a GPU with memory of its own is the driver's", () =>
  withDevice((gpu) => {
    assertEquals(gpu.memory.isSystemMemory, false);
    assertEquals(gpu.memory.freeBytes, driverFreeBytes(gpu));
  }, { driver: simulateDriver({ devices: 1 }) }));

Deno.test("OutOfMemoryError of an integrated GPU names the system's memory", () =>
  withDevice((gpu) => {
    let message = "";
    try {
      gpu.alloc("uint8", 9 * GIBIBYTE).dispose();
    } catch (error) {
      assert(error instanceof OutOfMemoryError);
      message = error.message;
    }
    assertStringIncludes(message, "8 GiB of 8 GiB free in the system's memory");
    assertStringIncludes(message, "the page cache counts as free, swap does not");
  }, { driver: simulateDriver(MACHINE) }));

Deno.test("OutOfMemoryError of an integrated GPU blames the system for what others hold", () =>
  withDevice((gpu) => {
    let hint = "";
    try {
      gpu.alloc("uint8", 4 * GIBIBYTE).dispose();
    } catch (error) {
      assert(error instanceof OutOfMemoryError);
      hint = error.hint;
    }
    assertEquals(hint, "the system and other programs hold 7 GiB, see free -h and top");
  }, {
    driver: fullDriver(),
  }));

/** A driver without memory, on a system that has some left. */
function fullDriver(): DriverApi {
  const driver = simulateDriver(MACHINE);
  return {
    ...driver,
    [OWN]: { ...ownParts(driver), availableBytes: () => GIBIBYTE },
    cuMemAllocAsync: () => 2,
    cuMemAllocFromPoolAsync: () => 2,
  } as DriverApi;
}

Deno.test("gpu.system() of an integrated GPU lacks what NVML does not support, without an error", () =>
  withDevice((gpu) => {
    const state = gpu.system();
    assertEquals(state.unavailable, undefined);
    assertEquals([state.memoryUsedBytes, state.powerLimitWatts, state.migMode], [
      undefined,
      undefined,
      undefined,
    ]);
    assertEquals(state.gpuUtilizationPercent, 0);
    assert(systemCard(state).parts.length > 0);
  }, { driver: simulateDriver(MACHINE) }));

Deno.test("availableBytes() reads the system's own amount for a driver without one", () => {
  const driver = { ...simulateDriver(), [OWN]: undefined };
  const found = availableBytes(driver, 0);
  if (Deno.build.os !== "linux") return assertEquals(found, undefined);
  const { total } = Deno.systemMemoryInfo();
  assert(found !== undefined && found > 0 && found <= total);
});
