// Which resource an allocation uses: the call's, the function's, the device's; and never another's.

import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { CudaAsyncMemoryResource } from "../../../src/memory/cuda_async_memory_resource.ts";
import { CudaMemoryResource } from "../../../src/memory/cuda_memory_resource.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import { PooledPinnedHostMemoryResource } from "../../../src/resources/pooled_pinned_host_memory_resource.ts";
import { StatisticsResourceAdaptor } from "../../../src/resources/statistics_resource_adaptor.ts";
import { testDriver, testOnTwoDevices } from "../../support/driver.ts";
import { captureWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

testOnDevice("CudaDevice.withResource() is what its function allocates from, and nests", (gpu) => {
  const [outer, inner] = [1, 2].map(() => new StatisticsResourceAdaptor(gpu.memoryResource));
  if (outer === undefined || inner === undefined) throw new TypeError("Cannot happen");
  const result = gpu.withResource(outer, () => {
    gpu.zeros("uint8", 100).dispose();
    gpu.withResource(inner, () => gpu.alloc("uint8", 10).dispose());
    gpu.alloc("uint8", 1000, { resource: inner }).dispose();
    gpu.alloc("uint8", 1).dispose();
    return "result";
  });
  gpu.alloc("uint8", 5000).dispose();
  assertEquals(result, "result");
  assertEquals([outer.totalBytes, inner.totalBytes], [101, 1010]);
});

Deno.test("CudaDevice.withResource() follows promises, and functions that overlap do not mix", () =>
  withDevice(async (gpu) => {
    const resources = [0, 1, 2].map(() => new StatisticsResourceAdaptor(gpu.memoryResource));
    await Promise.all(resources.map((resource, index) =>
      gpu.withResource(resource, async () => {
        for (let round = 0; round < 4; round++) {
          using _buffer = await gpu.upload(new Uint8Array(index + 1));
          await delay(1);
        }
      })
    ));
    assertEquals(resources.map(({ totalBytes }) => totalBytes), [4, 8, 12]);
  }));

testOnDevice("CudaDevice.withResource() ends when the function throws or rejects", async (gpu) => {
  const { memoryResource } = gpu;
  const resource = new StatisticsResourceAdaptor(memoryResource);
  const fail = () => {
    throw new Error("planted");
  };
  assertThrows(() => gpu.withResource(resource, fail), Error, "planted");
  await assertRejects(() => gpu.withResource(resource, async () => await fail()));
  assertEquals(gpu.memoryResource, memoryResource);
});

testOnDevice("CudaDevice.withPinnedResource() is where page-locked memory comes from", (gpu) => {
  using pool = new PooledPinnedHostMemoryResource(gpu);
  gpu.withPinnedResource(pool, () => gpu.pinned("uint8", 4096).dispose());
  assertEquals(pool.cachedBytes, 4096);
});

testOnTwoDevices("CudaDevice.withResource() refuses another device's resource", (first, second) => {
  assertThrows(
    () => first.withResource(second.memoryResource, () => {}),
    TypeError,
    "make one with this device",
  );
});

testOnTwoDevices("CudaDevice.withResource() leaves other devices alone", (first, second) => {
  const resource = new StatisticsResourceAdaptor(first.memoryResource);
  first.withResource(resource, () => second.alloc("uint8", 100).dispose());
  assertEquals(resource.totalCount, 0);
});

Deno.test("CudaDevice.open() takes the default resource once, and disposes it with its upstreams", () => {
  const driver = testDriver();
  let pool: CudaAsyncMemoryResource | undefined;
  let cache: CachingResourceAdaptor | undefined;
  {
    using gpu = CudaDevice.open(0, {
      driver,
      resource: (owner) => {
        pool = new CudaAsyncMemoryResource(owner, { releaseThresholdSize: "16 MiB" });
        return cache = new CachingResourceAdaptor(pool);
      },
    });
    gpu.zeros("float32", 1024).dispose();
    assertEquals(cache?.cachedBytes, 2 * 2 ** 20);
  }
  assertEquals([cache?.disposed, pool?.disposed], [true, true]);
});

Deno.test("CudaDevice.open() falls back to cuMemAlloc without pools, and says so once", () => {
  const driver = simulateDriver({ poolsSupported: false });
  const warnings = captureWarnings(() => {
    using gpu = CudaDevice.open(0, { driver });
    using again = CudaDevice.open(0, { driver });
    using buffer = gpu.zeros("uint8", 16);
    assertEquals(buffer.downloadSync()[15], 0);
    assertEquals(again.memoryResource instanceof CudaMemoryResource, true);
  });
  assertEquals(warnings.length, 1);
  assertStringIncludes(warnings[0] ?? "", "has no stream-ordered memory pools");
});

Deno.test("CudaDevice.open() refuses an async resource, whose own failure ends nothing", async () => {
  const resource = async () => {
    await undefined;
    throw new Error("nobody waits for this");
  };
  const options = { driver: testDriver(), resource: resource as never };
  assertThrows(() => CudaDevice.open(0, options), TypeError, "Cannot use a promise");
  await delay(0); // the test would fail here
});
