// Managed buffers: one memory for host and device, hints that can be read back, and refusals where a
// touch by the host could end the process. Sizes stay small: managed memory migrates page by page.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { CUdevice_attribute } from "../../../ffi/constants.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../mod.ts";
import type { ManagedHint, ManagedPlace } from "../../../src/buffers/managed_buffer.ts";
import { CudaUnavailableError } from "../../../src/words/errors.ts";
import { assertHoldsOnly, patternBytes } from "../../support/contents.ts";
import { ON_GPU, testOnTwoDevices } from "../../support/driver.ts";
import { watchedDriver } from "../../support/faulty_driver.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const PAGES_BYTES = 2 ** 20;

testOnDevice("ManagedBuffer.array and the device see the same bytes", (gpu) => {
  using managed = gpu.managed("uint8", 1000);
  managed.array.set(patternBytes(1000));
  using device = gpu.alloc("uint8", 1000);
  device.copyFrom(managed);
  assertEquals(device.downloadSync(), patternBytes(1000));
  managed.fill(9);
  gpu.synchronizeSync();
  assertEquals(managed.array[999], 9);
  const { array } = managed;
  managed.dispose();
  assertEquals(array.length, 0);
});

Deno.test("ManagedBuffer.advise() gives hints that advice reads back, unadvise() takes them back", () =>
  withDevice((gpu) => {
    using managed = gpu.managed("uint8", PAGES_BYTES);
    managed.clear();
    gpu.synchronizeSync();
    const nothing = {
      readMostly: false,
      preferredLocation: undefined,
      accessedBy: [],
      lastPrefetchLocation: undefined,
    };
    assertEquals(managed.advice, nothing);
    managed.advise("readMostly").advise("preferredLocation", gpu).advise("accessedBy", "host");
    assertEquals(managed.advice, {
      readMostly: true,
      preferredLocation: 0,
      accessedBy: ["host"],
      lastPrefetchLocation: undefined,
    });
    managed.advise("preferredLocation", "host");
    assertEquals(managed.advice.preferredLocation, "host");
    managed.unadvise("readMostly").unadvise("preferredLocation").unadvise("accessedBy", "host");
    assertEquals(managed.advice, nothing);
  }));

testOnDevice("ManagedBuffer.advise() of a view is for its pages only", (gpu) => {
  using managed = gpu.managed("uint8", 2 * PAGES_BYTES);
  const [left, right] = managed.split(PAGES_BYTES);
  left.advise("readMostly");
  assertEquals([left.advice.readMostly, right.advice.readMostly], [true, false]);
  assertEquals(managed.advice.readMostly, false);
});

testOnDevice("ManagedBuffer.prefetch() sends all or a part, and keeps the contents", (gpu) => {
  using managed = gpu.managed("uint8", 2 * PAGES_BYTES);
  managed.array.set(patternBytes(2 * PAGES_BYTES));
  managed.prefetch(gpu);
  gpu.synchronizeSync();
  assertEquals(managed.advice.lastPrefetchLocation, 0);
  const [left, right] = managed.split(PAGES_BYTES);
  left.prefetch("host");
  gpu.synchronizeSync();
  assertEquals(left.advice.lastPrefetchLocation, "host");
  assertEquals(right.advice.lastPrefetchLocation, 0);
  assertEquals(managed.downloadSync(), patternBytes(2 * PAGES_BYTES));
});

testOnDevice("ManagedBuffer.prefetch() and hints take 0 bytes", (gpu) => {
  using managed = gpu.managed("uint8", 0);
  managed.prefetch(gpu).advise("readMostly");
  assertEquals(managed.advice.readMostly, false);
});

testOnDevice("ManagedBuffer.discard() gives the contents up, and takes new ones", (gpu) => {
  if (!gpu.context.driver.has("cuMemDiscardAndPrefetchBatchAsync")) {
    using old = gpu.managed("uint8", PAGES_BYTES);
    assertThrows(() => old.discard(), CudaUnavailableError, "needs a driver for CUDA 13.0");
    return;
  }
  using managed = gpu.managed("uint8", PAGES_BYTES);
  managed.fill(7).discard().fill(8);
  assertHoldsOnly(managed.downloadSync(), 8);
});

testOnDevice("ManagedBuffer.discard() loses no bytes that are written behind it", (gpu) => {
  if (!gpu.context.driver.has("cuMemDiscardAndPrefetchBatchAsync")) return;
  using managed = gpu.managed("uint8", 8 * PAGES_BYTES);
  using source = gpu.alloc("uint8", managed.length);
  for (let round = 1; round <= (ON_GPU ? 20 : 2); round++) {
    source.fill(100 + round);
    managed.fill(round).discard().fill(50 + round);
    assertHoldsOnly(managed.downloadSync(), 50 + round);
    managed.discard().copyFrom(source);
    assertHoldsOnly(managed.downloadSync(), 100 + round);
    // Bytes beside a part that is given up stay, also on the same page.
    managed.subarray(1000, 5000).discard().fill(round);
    const bytes = managed.downloadSync();
    assertEquals([bytes[999], bytes[1000], bytes[4999], bytes[5000]], [
      ...[100 + round, round, round, 100 + round],
    ]);
    managed.discard();
    gpu.synchronizeSync();
    if (managed.isHostAccessible) managed.array.fill(round);
    else managed.fill(round);
    assertHoldsOnly(managed.downloadSync(), round);
  }
});

testOnDevice("ManagedBuffer.discard() leaves what is written behind it to the host", (gpu) => {
  if (!gpu.context.driver.has("cuMemDiscardAndPrefetchBatchAsync")) return;
  for (const byteLength of [4096, 65_536, 131_072, 2 * 2 ** 20]) {
    for (let round = 0; round < (ON_GPU ? 50 : 6); round++) {
      // New memory each time: pages that were never used before are the ones that lose bytes.
      using managed = gpu.managed("uint8", byteLength);
      if (round % 2 === 0) managed.fill(7);
      managed.discard().fill(9);
      if (round % 3 === 0 && managed.isHostAccessible) managed.prefetch("host");
      gpu.synchronizeSync();
      const bytes = managed.isHostAccessible ? managed.array : managed.downloadSync();
      assertHoldsOnly(bytes, 9);
      assertHoldsOnly(managed.downloadSync(), 9);
    }
  }
});

Deno.test("ManagedBuffer.discard() names the driver it needs", () =>
  withDevice((gpu) => {
    using managed = gpu.managed("uint8", 16);
    assertThrows(() => managed.discard(), CudaUnavailableError, "needs a driver for CUDA 13.0");
  }, { driver: simulateDriver({ driverVersion: 12080 }) }));

testOnDevice("ManagedBuffer.advise() refuses hints and places that there are not", (gpu) => {
  using managed = gpu.managed("uint8", 16);
  const unknown = "writeMostly" as ManagedHint;
  const words = 'Cannot advise "writeMostly": expected "readMostly", "preferredLocation" or "acc';
  assertThrows(() => managed.advise(unknown), TypeError, words);
  assertThrows(() => managed.advise("accessedBy"), TypeError, 'a device or "host"');
  assertThrows(() => managed.advise("preferredLocation"), TypeError, 'a device or "host"');
  assertThrows(() => managed.prefetch(undefined as unknown as ManagedPlace), TypeError);
});

testOnDevice("ManagedBuffer refuses a device of another driver as a place", (gpu) => {
  using other = CudaDevice.open(0, { driver: simulateDriver() });
  using managed = gpu.managed("uint8", 16);
  const words = "the device is of another driver";
  assertThrows(() => managed.prefetch(other), TypeError, words);
  assertThrows(() => managed.advise("preferredLocation", other), TypeError, words);
});

Deno.test("ManagedBuffer without concurrent access refuses the host and hints, and still moves", () =>
  withDevice(async (gpu) => {
    using managed = gpu.managed("uint8", 64);
    assertEquals(managed.isHostAccessible, false);
    const uses = [
      () => managed.array,
      () => managed.prefetch(gpu),
      () => managed.prefetch("host"),
      () => managed.advise("preferredLocation", gpu),
    ];
    for (const use of uses) {
      const error = assertThrows(use, CudaUnavailableError);
      assertEquals(error.reason, "not-supported");
    }
    assertThrows(uses[0] ?? (() => {}), CudaUnavailableError, "use download() and upload()");
    await managed.upload(patternBytes(64));
    assertEquals(await managed.download(), patternBytes(64));
  }, { driver: simulateDriver({ concurrentManagedAccess: false }) }));

Deno.test("ManagedBuffer says what to use on a device that has no managed memory", () => {
  const { driver: api } = watchedDriver();
  const { CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY } = CUdevice_attribute;
  const driver: typeof api = {
    ...api,
    cuDeviceGetAttribute: (cell, attribute, device) =>
      attribute === CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY
        ? 1
        : api.cuDeviceGetAttribute(cell, attribute, device),
  };
  return withDevice((gpu) => {
    assertThrows(() => gpu.managed("uint8", 16), CudaUnavailableError, "a device or staged buffer");
    assertEquals(gpu.live().count, 0);
  }, { driver });
});

testOnTwoDevices("ManagedBuffer.prefetch() and hints name another device", (first, second) => {
  using managed = first.managed("uint8", PAGES_BYTES);
  managed.array.set(patternBytes(PAGES_BYTES));
  managed.advise("accessedBy", second).advise("accessedBy", first).prefetch(second);
  first.synchronizeSync();
  const { accessedBy, lastPrefetchLocation } = managed.advice;
  assert(accessedBy.includes(0) && accessedBy.includes(1));
  assertEquals(lastPrefetchLocation, 1);
  managed.unadvise("accessedBy", second);
  assertEquals(managed.advice.accessedBy, [0]);
  assertEquals(managed.downloadSync(), patternBytes(PAGES_BYTES));
});
