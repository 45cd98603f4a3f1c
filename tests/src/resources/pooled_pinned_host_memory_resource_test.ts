// Page-locked memory is reused for about its own size, after the copies that need it, and unpinned.

import { assertEquals, assertLess, assertNotEquals, assertThrows } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { PinnedPool } from "../../../src/memory/pinned_pool.ts";
import { PooledPinnedHostMemoryResource } from "../../../src/resources/pooled_pinned_host_memory_resource.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { faultyDriver, watchedDriver } from "../../support/faulty_driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { Random } from "../../support/random.ts";
import { SweepDriver } from "../../support/sweep/sweep_driver.ts";
import { inTurn } from "../../support/test_unless.ts";
import { captureWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

Deno.test("PooledPinnedHostMemoryResource.allocate() takes the smallest block that is little larger", () =>
  withDevice((gpu) => {
    using pool = new PooledPinnedHostMemoryResource(gpu);
    const sizes = [96, 100, 104, 100].map((pages) => pages * 4096);
    const blocks = sizes.map((size) => pool.allocate(size, gpu.stream));
    for (const [at, block] of blocks.entries()) {
      pool.deallocate(block, sizes[at] ?? 0, gpu.stream);
    }
    const taken = [98, 99, 99, 95, 83].map((pages) => pool.allocate(pages * 4096, gpu.stream));
    assertEquals(new Set(taken.slice(0, 2)), new Set([blocks[1], blocks[3]]));
    assertEquals(taken.slice(2, 4), [blocks[2], blocks[0]]);
    assertEquals([pool.usedBytes, pool.cachedBytes], [(96 + 100 + 104 + 100 + 83) * 4096, 0]);
    for (const each of taken) pool.deallocate(each, 1, gpu.stream);
    assertEquals(pool.cachedBytes, (96 + 100 + 104 + 100 + 83) * 4096);
    const small = pool.allocate(66 * 4096, gpu.stream); // 83 is more than 1.25 times as large
    assertEquals(taken.includes(small), false);
    pool.deallocate(small, 1, gpu.stream);
  }));

Deno.test(
  inTurn("downloadPinned() keeps little page-locked memory after downloads of many sizes"),
  () =>
    withDevice(async (gpu) => {
      const random = new Random(11);
      const most = 6 * 2 ** 20;
      using buffer = gpu.zeros("uint8", most);
      for (let round = 0; round < 300; round++) {
        using part = await gpu.downloadPinned(buffer.subarray(0, 1 + random.below(most)));
        assertEquals(part.array.at(-1), 0);
      }
      // Blocks of their own would take some 130 times the largest.
      assertLess(PinnedPool.of(gpu.context).byteLength, 20 * most);
    }),
);

testOnDevice("PooledPinnedHostMemoryResource.allocate() leaves much larger blocks", (gpu) => {
  using pool = new PooledPinnedHostMemoryResource(gpu);
  const first = pool.allocate(10_000, gpu.stream);
  assertEquals(pool.usedBytes, 12_288);
  pool.deallocate(first, 10_000, gpu.stream);
  const other = pool.allocate(8192, gpu.stream);
  assertNotEquals(other, first);
  const same = pool.allocate(12_000, gpu.stream);
  assertEquals(same, first);
  pool.deallocate(same, 12_000, gpu.stream);
  pool.deallocate(other, 8192, gpu.stream);
  assertEquals([pool.usedBytes, pool.cachedBytes], [0, 20_480]);
});

testHolding(
  "PooledPinnedHostMemoryResource hands a block out again only after the copies that use it",
  (gpu) => {
    using pool = new PooledPinnedHostMemoryResource(gpu);
    using target = gpu.zeros("uint8", 4096);
    const source = gpu.pinned("uint8", 4096, { resource: pool });
    const address = source.ptr;
    source.array.fill(7);
    {
      using _held = new HeldStream(gpu, gpu.stream);
      target.copyFrom(source);
      source.dispose();
      using next = gpu.pinned("uint8", 4096, { resource: pool });
      assertNotEquals(next.ptr, address);
      next.array.fill(9);
    }
    assertEquals(target.downloadSync()[4095], 7);
  },
);

testHolding(
  "PooledPinnedHostMemoryResource.deallocate() waits for the stream when it is called directly",
  (gpu) => {
    using pool = new PooledPinnedHostMemoryResource(gpu);
    const block = pool.allocate(4096, gpu.stream);
    const held = new HeldStream(gpu, gpu.stream);
    pool.deallocate(block, 4096, gpu.stream);
    const next = pool.allocate(4096, gpu.stream);
    assertNotEquals(next, block);
    held[Symbol.dispose]();
    const last = pool.allocate(4096, gpu.stream);
    assertEquals(last, block);
    for (const each of [next, last]) pool.deallocate(each, 4096, gpu.stream);
  },
);

testOnDevice("PooledPinnedHostMemoryResource keeps at most what it is told, and trims", (gpu) => {
  using pool = new PooledPinnedHostMemoryResource(gpu, { keepSize: "8 KiB" });
  const blocks = [1, 2, 3].map(() => pool.allocate(4096, gpu.stream));
  for (const block of blocks) pool.deallocate(block, 4096, gpu.stream);
  assertEquals(pool.cachedBytes, 8192);
  pool.trim();
  assertEquals(pool.cachedBytes, 0);
});

Deno.test("PooledPinnedHostMemoryResource.dispose() unpins blocks in use when they are freed", () => {
  const { driver, calls } = watchedDriver();
  return withDevice((gpu) => {
    const pool = new PooledPinnedHostMemoryResource(gpu);
    const buffer = gpu.pinned("uint8", 4096, { resource: pool });
    gpu.pinned("uint8", 8192, { resource: pool }).dispose();
    const unpinned = () => calls.filter((call) => call === "cuMemFreeHost").length;
    pool.dispose();
    assertEquals(unpinned(), 1);
    assertThrows(() => pool.allocate(1, gpu.stream), DisposedError);
    buffer.dispose();
    gpu.synchronizeSync();
    gpu.context.sweep();
    assertEquals(unpinned(), 2);
  }, { driver });
});

Deno.test("PooledPinnedHostMemoryResource unpins what it keeps and tries again when memory is out", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice((gpu) => {
    using pool = new PooledPinnedHostMemoryResource(gpu);
    pool.deallocate(pool.allocate(4096, gpu.stream), 4096, gpu.stream);
    setFault({ name: "cuMemHostAlloc", status: 2 });
    assertThrows(() => pool.allocate(8192, gpu.stream));
    assertEquals([pool.usedBytes, pool.cachedBytes], [0, 0]);
    setFault(undefined);
    pool.deallocate(pool.allocate(8192, gpu.stream), 8192, gpu.stream);
  }, { driver });
});

Deno.test("PooledPinnedHostMemoryResource.dispose() unpins all blocks but the one that fails", () => {
  const driver = new SweepDriver(simulateDriver());
  using gpu = CudaDevice.open(0, { driver: driver.api });
  const resource = new PooledPinnedHostMemoryResource(gpu);
  const blocks = [1, 2, 3].map(() => gpu.pinned("uint8", 4096, { resource }));
  for (const block of blocks) block.dispose();
  driver.arm({ name: "cuMemFreeHost", nth: 1, status: 999 });
  const warnings = captureWarnings(() => resource.dispose());
  assertEquals(warnings.length, 1);
  const held = driver.held.namesWithout(driver.excused);
  assertEquals(held.filter((name) => name.startsWith("pinned")), []);
});
