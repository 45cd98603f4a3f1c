// Downloads into recycled page-locked memory: right contents, the same block again, nothing kept on.

import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { CudaDevice } from "../../../src/device/device.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { watchedDriver } from "../../support/faulty_driver.ts";
import { liveNames, testOnDevice } from "../../support/with_device.ts";

testOnDevice("gpu.downloadPinned() gives the elements", async (gpu) => {
  using x = await gpu.upload(new Float32Array([1, 2, 3, 4, 5, 6]), { shape: [2, 3] });
  using host = await gpu.downloadPinned(x, { label: "host" });
  assertEquals(`${host}`, "PinnedBuffer(host, float32[2, 3])");
  assertEquals([...host.array], [1, 2, 3, 4, 5, 6]);
});

testOnDevice("gpu.downloadPinned() packs a strided view", async (gpu) => {
  using x = await gpu.upload(new Float32Array([1, 2, 3, 4, 5, 6]), { shape: [2, 3] });
  using host = await gpu.downloadPinned(x.transpose());
  assertEquals(host.shape, [3, 2]);
  assertEquals([...host.array], [1, 4, 2, 5, 3, 6]);
});

testOnDevice("gpu.downloadPinned() uses memory again once it was disposed", async (gpu) => {
  using x = gpu.zeros("float32", 1000);
  const first = await gpu.downloadPinned(x);
  const { ptr, array } = first;
  using second = await gpu.downloadPinned(x);
  assertNotEquals(second.ptr, ptr);
  first.dispose();
  assertEquals(array.length, 0);
  using third = await gpu.downloadPinned(x);
  assertEquals(third.ptr, ptr);
});

testOnDevice("gpu.downloadPinned() of a disposed buffer leaves nothing", async (gpu) => {
  const x = gpu.zeros("float32", 8);
  x.dispose();
  await assertRejects(() => gpu.downloadPinned(x), DisposedError);
  assertEquals(liveNames(gpu), []);
});

Deno.test("the pool of gpu.downloadPinned() is a cache that can be trimmed, and ends with the context", async () => {
  const { driver, calls } = watchedDriver();
  const count = (name: string) => calls.filter((call) => call === name).length;
  const gpu = CudaDevice.open(0, { driver });
  const x = gpu.zeros("uint8", 5000);
  (await gpu.downloadPinned(x)).dispose();
  const cached = () => gpu.context.ledger.cachedBytes("host");
  assertEquals(cached(), 8192);
  for (const cache of gpu.context.ledger.caches) cache.trim();
  assertEquals(cached(), 0);
  const last = await gpu.downloadPinned(x);
  x.dispose();
  gpu.dispose();
  assertEquals(last.array.length, 5000);
  last.dispose();
  assertEquals(count("cuMemFreeHost"), count("cuMemHostAlloc"));
  assertEquals(count("cuDevicePrimaryCtxRelease_v2"), 1);
});
