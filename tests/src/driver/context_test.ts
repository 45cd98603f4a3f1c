// Checks that calls find their context, that devices never mix, and that the last user lets go.

import {
  assert,
  assertEquals,
  assertFalse,
  assertGreater,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { CUresult } from "../../../ffi/constants.ts";
import type { DriverApi } from "../../../ffi/cuda.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { Context } from "../../../src/driver/context.ts";
import { Driver } from "../../../src/driver/driver.ts";
import { CudaError, DisposedError } from "../../../src/words/errors.ts";
import { assertHoldsOnly } from "../../support/contents.ts";
import { testDriver, testOnTwoDevices } from "../../support/driver.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

function currentContext(api: DriverApi): bigint {
  const cell = new BigUint64Array(1);
  assertEquals(api.cuCtxGetCurrent(cell), 0);
  return cell[0] ?? 0n;
}

/** Whether a context can still be used. */
function isUsable(api: DriverApi, handle: bigint): boolean {
  if (api.cuCtxPushCurrent_v2(handle) !== 0) return false;
  const cell = new BigUint64Array(1);
  const status = api.cuMemGetInfo_v2(cell, new BigUint64Array(1));
  api.cuCtxPopCurrent_v2(cell);
  return status === 0;
}

Deno.test("Context.retain() shares one context of a device", () => {
  const driver = Driver.open({ ...testDriver() });
  const first = Context.retain(driver, 0);
  assertStrictEquals(Context.retain(driver, 0), first);
  first.release();
  assertFalse(first.released);
  first.release();
  assert(first.released);
});

Deno.test("Context.retain() refuses a context that was let go, which would let it go twice", () => {
  let releaseCount = 0;
  const api = testDriver();
  const cuDevicePrimaryCtxRelease_v2 = (device: number) => {
    releaseCount++;
    return api.cuDevicePrimaryCtxRelease_v2(device);
  };
  const context = Context.retain(Driver.open({ ...api, cuDevicePrimaryCtxRelease_v2 }), 0);
  context.release();
  assertThrows(() => context.retain(), DisposedError, "Cannot use device 0: it was disposed");
  assert(context.released);
  assertEquals(releaseCount, 1);
});

Deno.test("Context names itself on a console, also inside of what belongs to it", () => {
  withDevice(({ context, memoryResource }) => {
    assertEquals([Deno.inspect(context), `${context}`], Array(2).fill("Context(device 0)"));
    assertStringIncludes(Deno.inspect({ memoryResource }), "device 0");
  });
});

Deno.test("Context.release() lets the primary context go with the last user", () => {
  const api = simulateDriver(); // on a GPU the suite keeps the primary context alive
  const driver = Driver.open(api);
  const context = Context.retain(driver, 0);
  assert(isUsable(api, context.handle));
  context.release();
  assertFalse(isUsable(api, context.handle));
});

Deno.test("Context.release() leaves the thread without a context when it came without one", () => {
  const api = testDriver();
  const gpu = CudaDevice.open(0, { driver: api });
  gpu.dispose();
  assertEquals(currentContext(api), 0n);
});

Deno.test("Context.retain() makes a new context after the last one was let go", () => {
  const driver = Driver.open(testDriver());
  const first = Context.retain(driver, 0);
  first.release();
  const second = Context.retain(driver, 0);
  assertFalse(second.released);
  assertEquals(second.freeBytes() > 0, true);
  second.release();
});

for (const ordinal of [-1, 0.5, NaN, 99, "0"]) {
  Deno.test(`Context.retain() refuses device ${JSON.stringify(ordinal)} with what there is`, () => {
    const driver = Driver.open(testDriver());
    assertThrows(
      () => Context.retain(driver, ordinal as number),
      RangeError,
      `Cannot open device ${ordinal}: this machine has ${driver.deviceCount}`,
    );
  });
}

testOnTwoDevices("Context.call() works while another device's is current", (first, second) => {
  using a = first.zeros("uint32", 4);
  using b = second.zeros("uint32", 4);
  a.fill(1);
  b.fill(2);
  assertEquals([[...a.downloadSync()], [...b.downloadSync()]], [[1, 1, 1, 1], [2, 2, 2, 2]]);
});

testOnTwoDevices("Context.call() puts back what was current before", (first, second) => {
  const { api } = first.context.driver;
  second.context.call("cuCtxSynchronize");
  assertEquals(currentContext(api), first.context.handle);
});

testOnTwoDevices("Context.call() puts back what was current when it fails", (first, second) => {
  const { api } = first.context.driver;
  assertThrows(
    () => second.context.call("cuMemAlloc_v2", new BigUint64Array(1), 0n),
    CudaError,
    "CUDA_ERROR_INVALID_VALUE",
  );
  assertEquals(currentContext(api), first.context.handle);
});

testOnTwoDevices("Context.call() keeps a foreign program's context current", (first, second) => {
  const { api } = first.context.driver;
  const foreign = second.context.handle;
  assertEquals(api.cuCtxPushCurrent_v2(foreign), 0);
  using buffer = first.zeros("uint8", 16);
  buffer.fill(3).downloadSync();
  assertEquals(currentContext(api), foreign);
  assertEquals(api.cuCtxPopCurrent_v2(new BigUint64Array(1)), 0);
});

testOnTwoDevices("Context.freeBytes() reads the memory of its own device", (first, second) => {
  const [before, other] = [first.context.freeBytes(), second.context.freeBytes()];
  using _block = first.alloc("uint8", 64 * 2 ** 20);
  assert(first.context.freeBytes() <= before - 64 * 2 ** 20);
  assertEquals(second.context.freeBytes(), other);
});

Deno.test("Context lives on while a buffer of a disposed device does", () => {
  const api = simulateDriver();
  const gpu = CudaDevice.open(0, { driver: api });
  const buffer = gpu.zeros("uint8", 16);
  gpu.dispose();
  assertHoldsOnly(buffer.fill(5).downloadSync(), 5);
  const { handle } = buffer.context;
  buffer.dispose();
  assertFalse(isUsable(api, handle));
});

Deno.test("Context.attribute() reads 0 for what the driver does not know", () => {
  const api = testDriver();
  const driver = Driver.open({
    ...api,
    cuDeviceGetAttribute: () => CUresult.CUDA_ERROR_INVALID_VALUE,
  });
  const context = Context.retain(driver, 0);
  assertEquals(context.attribute("CU_DEVICE_ATTRIBUTE_WARP_SIZE"), 0);
  context.release();
});

testOnDevice("Context.sweep() runs deferred work once, when it is due", ({ context }) => {
  let due = false;
  let runs = 0;
  context.defer({ isDue: () => due, wait: () => {}, run: () => void runs++ });
  context.sweep();
  assertEquals(runs, 0);
  due = true;
  context.sweep();
  context.sweep();
  assertEquals(runs, 1);
});

Deno.test("Context.atRelease() runs hooks while the context can still be used", () => {
  const driver = Driver.open(testDriver());
  const context = Context.retain(driver, 0);
  let free = 0;
  context.atRelease(() => free = context.freeBytes());
  context.release();
  assert(free > 0);
});

Deno.test("Context.attribute() keeps what the driver knows and what it does not, and no failure", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice(({ context }) => {
    const known = "CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR";
    setFault({ name: "cuDeviceGetAttribute" });
    assertThrows(() => context.attribute(known), CudaError, "cuDeviceGetAttribute");
    const unknown = "CU_DEVICE_ATTRIBUTE_INTEGRATED";
    setFault({ name: "cuDeviceGetAttribute", status: CUresult.CUDA_ERROR_INVALID_VALUE });
    assertEquals(context.attribute(unknown), 0);
    setFault(undefined);
    const count = context.attribute(known);
    assertGreater(count, 0);
    setFault({ name: "cuDeviceGetAttribute" });
    assertEquals([context.attribute(known), context.attribute(unknown)], [count, 0]);
    setFault(undefined);
  }, { driver });
});

Deno.test("Context.call() keeps the result of a call after which the former context does not come back", () => {
  for (const failingCount of [1, 2]) {
    const api = simulateDriver();
    let left = failingCount;
    const cuCtxPopCurrent_v2 = (cell: Parameters<DriverApi["cuCtxPopCurrent_v2"]>[0]) =>
      left-- > 0 ? CUresult.CUDA_ERROR_UNKNOWN : api.cuCtxPopCurrent_v2(cell);
    using _first = CudaDevice.open(0, { driver: { ...api, cuCtxPopCurrent_v2 } });
    using second = CudaDevice.open(1, { driver: { ...api, cuCtxPopCurrent_v2 } });
    const before = currentContext(api);
    using stream = second.createStream();
    assertEquals(stream.isIdle, true);
    assertEquals(currentContext(api), before);
  }
});

testHolding("Context.sweepSome() looks at a few works, and at others the next time", (gpu) => {
  using stream = gpu.createStream();
  const { context } = gpu;
  let looks = 0;
  using held = new HeldStream(gpu, stream);
  const never = { isDue: () => !++looks, wait: () => {}, run: () => {} };
  for (let i = 0; i < 20; i++) context.defer({ ...never });
  let isRun = false;
  context.defer({ isDue: () => true, wait: () => {}, run: () => isRun = true });
  context.sweepSome();
  assert(looks < 10 && !isRun);
  for (let i = 0; i < 10; i++) context.sweepSome();
  assert(isRun);
  assertEquals(context.deferred.works.size, 20);
  held.release();
  gpu.synchronizeSync();
  assertEquals(context.deferred.works.size, 0);
});

testOnDevice("Context is its name in JSON", ({ context }) => {
  assertEquals(JSON.stringify({ context }), '{"context":"Context(device 0)"}');
});
