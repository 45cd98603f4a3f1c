// Pools of one's own: their settings reach the driver, their numbers come from it, and they end.

import { assert, assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import type { DriverApi } from "../../../ffi/cuda.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { CudaAsyncMemoryResource } from "../../../src/memory/cuda_async_memory_resource.ts";
import { queueOf } from "../../../src/order/stream.ts";
import {
  CudaUnavailableError,
  DisposedError,
  MemoryLimitError,
  OutOfMemoryError,
} from "../../../src/words/errors.ts";
import { assertSameBytes, patternBytes, readBytes, writeBytes } from "../../support/contents.ts";
import { testDriver, testOnTwoDevices } from "../../support/driver.ts";
import { faultyDriver, watchedDriver } from "../../support/faulty_driver.ts";
import { HeldStream, holdingSkip, testHoldingWatched } from "../../support/held_stream.ts";
import { Random } from "../../support/random.ts";
import { testUnless } from "../../support/test_unless.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const MEBIBYTE = 2 ** 20;

Deno.test("CudaAsyncMemoryResource leaves the default pool as the driver set it up", () => {
  const { driver, calls } = watchedDriver();
  return withDevice((gpu) => {
    const pool = new CudaAsyncMemoryResource(gpu);
    gpu.alloc("uint8", 4096, { resource: pool }).dispose();
    pool.dispose();
    assertEquals(pool.releaseThresholdBytes, 0);
    assertEquals(pool.disposed, false);
    gpu.alloc("uint8", 4096, { resource: pool }).dispose();
    assertEquals(calls.filter((call) => /^cuMemPool(Set|Create|Destroy)/.test(call)), []);
  }, { driver });
});

testOnDevice("CudaAsyncMemoryResource gives a pool of its own the settings", (gpu) => {
  const reuse = { allowOpportunistic: false };
  using pool = new CudaAsyncMemoryResource(gpu, { releaseThresholdSize: "64 MiB", reuse });
  assertEquals(pool.releaseThresholdBytes, 64 * MEBIBYTE);
  assertEquals(pool.reuse, {
    followEventDependencies: true,
    allowOpportunistic: false,
    allowInternalDependencies: true,
  });
  assertThrows(
    () => new CudaAsyncMemoryResource(gpu, { releaseThresholdSize: "64k" }),
    RangeError,
  );
  assertThrows(() => new CudaAsyncMemoryResource(gpu, { maxSize: -1 }), RangeError);
  const handleType = "memfd" as "none";
  assertThrows(() => new CudaAsyncMemoryResource(gpu, { handleType }), TypeError, "memfd");
  assertThrows(() => pool.trim(-1), RangeError, "bytes to keep -1");
});

Deno.test("CudaAsyncMemoryResource reads usage from the driver, and keeps what its threshold says", () =>
  withDevice((gpu) => {
    using pool = new CudaAsyncMemoryResource(gpu, { releaseThresholdSize: "64 MiB" });
    const buffer = gpu.alloc("uint8", 8 * MEBIBYTE, { resource: pool });
    assertEquals([pool.usedBytes, pool.peakUsedBytes], [8 * MEBIBYTE, 8 * MEBIBYTE]);
    assert(pool.reservedBytes >= 8 * MEBIBYTE);
    buffer.dispose();
    gpu.synchronizeSync();
    assertEquals(pool.usedBytes, 0);
    assert(pool.reservedBytes >= 8 * MEBIBYTE, "the threshold keeps it");
    pool.resetPeaks();
    assertEquals(pool.peakUsedBytes, 0);
    pool.trim();
    assertEquals(pool.reservedBytes, 0);
  }));

testOnDevice("CudaAsyncMemoryResource maxSize bounds the pool, and the next call works", (gpu) => {
  using pool = new CudaAsyncMemoryResource(gpu, { maxSize: "64 MiB" });
  const options = { resource: pool };
  assertThrows(() => gpu.alloc("uint8", 256 * MEBIBYTE, options), OutOfMemoryError);
  using buffer = gpu.alloc("uint8", 4096, options);
  writeBytes(buffer, patternBytes(4096));
  assertSameBytes(readBytes(buffer), patternBytes(4096));
});

testOnDevice("CudaAsyncMemoryResource maxSize is what the error of a full pool names", (gpu) => {
  using resource = new CudaAsyncMemoryResource(gpu, { maxSize: "64 MiB" });
  const held = gpu.alloc("uint8", 48 * MEBIBYTE, { resource, label: "held" });
  const error = assertThrows(
    () => gpu.alloc("uint8", 32 * MEBIBYTE, { resource }),
    OutOfMemoryError,
    "limited to 64 MiB, 48 MiB in 1 live buffer (largest: held 48 MiB); make the pool with a " +
      "larger maxSize, or dispose what is no longer needed, see gpu.live()",
  );
  assertInstanceOf(error.cause, MemoryLimitError);
  const { limitBytes, heldBytes } = error.cause;
  assertEquals([error.limitBytes, limitBytes, heldBytes], [
    64 * MEBIBYTE,
    64 * MEBIBYTE,
    48 * MEBIBYTE,
  ]);
  held.dispose();
  using next = gpu.alloc("uint8", 32 * MEBIBYTE, { resource });
  assertEquals(next.byteLength, 32 * MEBIBYTE);
});

Deno.test("CudaAsyncMemoryResource maxSize needs a driver that knows it", () =>
  withDevice((gpu) => {
    const options = { maxSize: "64 MiB" };
    assertThrows(
      () => new CudaAsyncMemoryResource(gpu, options),
      CudaUnavailableError,
      "maxSize needs a driver for CUDA 12.2 or newer, this one is for 12.1; wrap the pool",
    );
    using pool = new CudaAsyncMemoryResource(gpu, {});
    assertEquals(pool.usedBytes, 0);
  }, { driver: { ...testDriver(), cuDriverGetVersion: writeVersion } }));

testOnDevice("CudaAsyncMemoryResource.dispose() ends a pool behind its last buffer", (gpu) => {
  const pool = new CudaAsyncMemoryResource(gpu, {});
  const buffer = gpu.alloc("uint8", 4096, { resource: pool });
  pool.dispose();
  pool.dispose();
  assert(pool.disposed);
  assertThrows(() => pool.usedBytes, DisposedError);
  assertThrows(() => gpu.alloc("uint8", 1, { resource: pool }), DisposedError);
  writeBytes(buffer, patternBytes(4096));
  assertSameBytes(readBytes(buffer), patternBytes(4096));
  buffer.dispose();
});

testHoldingWatched(
  "CudaAsyncMemoryResource is destroyed once the GPU has freed its last block, whoever goes first",
  async (gpu, { calls }) => {
    const random = new Random(7);
    const destroyedCount = () => calls.filter((call) => call === "cuMemPoolDestroy").length;
    // Release 580 of the driver crashes within a few rounds if a pool goes before a free is done.
    for (let round = 0; round < 40; round++) {
      using stream = gpu.createStream();
      using held = new HeldStream(gpu, stream);
      const pool = new CudaAsyncMemoryResource(gpu, { releaseThresholdSize: "64 MiB" });
      const ends = [() => pool.dispose()];
      for (let count = 1 + random.below(4); count > 0; count--) {
        const length = 1 + random.below(2 ** 20);
        const buffer = gpu.alloc("uint8", length, { resource: pool, stream });
        buffer.fill(round, { stream });
        ends.push(() => buffer.dispose());
      }
      while (ends.length > 0) ends.splice(random.below(ends.length), 1)[0]?.();
      assertEquals(destroyedCount(), round);
      held.release();
      await gpu.synchronize();
      assertEquals(destroyedCount(), round + 1);
      using other = gpu.alloc("uint8", 1 + random.below(2 ** 20));
      other.fill(1);
    }
  },
);

testUnless("CudaAsyncMemoryResource outlives a wait that began before it", holdingSkip(), () => {
  const { driver, calls } = watchedDriver();
  const [noticed, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const lateDriver: DriverApi = {
    ...driver,
    cuStreamSynchronizeNonblocking: async (stream) => {
      const status = await driver.cuStreamSynchronizeNonblocking(stream);
      noticed.resolve();
      await late.promise; // the thread comes back late
      return status;
    },
  };
  return withDevice(async (gpu) => {
    using stream = gpu.createStream();
    gpu.alloc("uint8", 256 * MEBIBYTE, { stream }).dispose();
    const wait = queueOf(stream).synchronize();
    await noticed.promise; // so much is waited for on a thread
    stream.synchronizeSync();
    const pool = new CudaAsyncMemoryResource(gpu, {});
    using held = new HeldStream(gpu, stream);
    gpu.alloc("uint8", MEBIBYTE, { resource: pool, stream }).dispose();
    pool.dispose();
    late.resolve();
    await wait;
    assertEquals(calls.includes("cuMemPoolDestroy"), false);
    held.release();
    stream.synchronizeSync();
    assertEquals(calls.includes("cuMemPoolDestroy"), true);
  }, { driver: lateDriver });
});

testUnless(
  "CudaAsyncMemoryResource waits for a stream that leaves no mark when it is disposed",
  holdingSkip(),
  () => {
    const { driver, setFault } = faultyDriver();
    return withDevice((gpu) => {
      const stream = gpu.createStream();
      const pool = new CudaAsyncMemoryResource(gpu, {});
      const x = gpu.alloc("uint8", MEBIBYTE, { resource: pool, stream });
      using held = new HeldStream(gpu, stream);
      x.fill(1, { stream }).dispose();
      pool.dispose();
      setFault({ name: "cuEventRecord" });
      held.release();
      stream.dispose();
      setFault(undefined);
    }, { driver });
  },
);

Deno.test("CudaAsyncMemoryResource gives unused memory back when it is disposed before a buffer", () =>
  withDevice((gpu) => {
    const pool = new CudaAsyncMemoryResource(gpu, { releaseThresholdSize: "1 GiB" });
    using buffer = gpu.alloc("uint8", MEBIBYTE, { resource: pool });
    gpu.alloc("uint8", 128 * MEBIBYTE, { resource: pool }).dispose();
    gpu.synchronizeSync();
    const cachedBytes = () =>
      gpu.report().data.caches.reduce((sum, { byteLength }) => sum + byteLength, 0);
    assert(cachedBytes() >= 128 * MEBIBYTE);
    pool.dispose();
    assert(cachedBytes() < 64 * MEBIBYTE);
    buffer.dispose();
    gpu.synchronizeSync();
    assertEquals(cachedBytes(), 0);
  }));

Deno.test("CudaAsyncMemoryResource has its memory waited for that was freed just before it ended", () => {
  const gpu = CudaDevice.open(0, { driver: simulateDriver({ memoryBytes: 64 * MEBIBYTE }) });
  using _gpu = gpu;
  for (let round = 0; round < 3; round++) {
    using pool = new CudaAsyncMemoryResource(gpu, {});
    using buffer = gpu.alloc("uint8", 48 * MEBIBYTE, { resource: pool });
    buffer.fill(round);
  }
  using buffer = gpu.zeros("uint8", 48 * MEBIBYTE);
  assertEquals(buffer.subarray(0, 1).downloadSync()[0], 0);
});

Deno.test("CudaAsyncMemoryResource gives back what a stream frees after it ended", () => {
  const gpu = CudaDevice.open(0, { driver: simulateDriver({ memoryBytes: 64 * MEBIBYTE }) });
  using _gpu = gpu;
  const freeBytes = gpu.context.freeBytes();
  {
    using pool = new CudaAsyncMemoryResource(gpu, {});
    using _buffer = gpu.alloc("uint8", 4096, { resource: pool });
  }
  gpu.stream.synchronizeSync();
  assertEquals(gpu.context.freeBytes(), freeBytes);
});

testOnTwoDevices("CudaAsyncMemoryResource.setAccess() lets a peer in and out", (first, second) => {
  using pool = new CudaAsyncMemoryResource(first, {});
  assertEquals([pool.accessOf(first), pool.accessOf(second)], ["readwrite", "none"]);
  pool.setAccess(second, "readwrite");
  assertEquals(pool.accessOf(second), "readwrite");
  pool.setAccess(second, "none");
  assertEquals(pool.accessOf(second), "none");
});

/** A driver for CUDA 12.1. */
function writeVersion(version: unknown): number {
  if (version instanceof Int32Array) version[0] = 12010;
  return 0;
}

Deno.test("CudaAsyncMemoryResource counts what the device's own pool keeps as cached", async () => {
  using gpu = CudaDevice.open(0, { driver: simulateDriver() });
  gpu.alloc("uint8", 2 ** 28).dispose();
  assertEquals([gpu.memory.cachedBytes, gpu.memory.otherBytes], [2 ** 28, 0]);
  await gpu.synchronize();
  assertEquals([gpu.memory.cachedBytes, gpu.memory.otherBytes], [0, 0]);
  gpu.alloc("uint8", 2 ** 28).dispose();
  using hog = gpu.growable("uint8", { reserveSize: "8 GiB" });
  hog.grow(2 ** 33 - 2 ** 27); // the pool gives way
  assertEquals(gpu.memory.cachedBytes, 0);
});
