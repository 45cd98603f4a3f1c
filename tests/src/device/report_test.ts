// Checks gpu.memory and gpu.report(): amounts that add up, words, and JSON.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { testOnDevice } from "../../support/with_device.ts";

const MIB = 2 ** 20;

testOnDevice("CudaDevice.memory adds up to the total, with host memory apart", (gpu) => {
  using _device = gpu.alloc("uint8", 64 * MIB);
  using _host = gpu.pinned("uint8", MIB);
  const { freeBytes, totalBytes, liveBytes, cachedBytes, otherBytes, hostBytes } = gpu.memory;
  assertEquals(freeBytes + liveBytes + cachedBytes + otherBytes, totalBytes);
  assertEquals([liveBytes, hostBytes >= MIB], [64 * MIB, true]);
});

testOnDevice("CudaDevice.memory keeps the peak after memory was freed", (gpu) => {
  gpu.alloc("uint8", 8 * MIB).dispose();
  assertEquals([gpu.memory.liveBytes, gpu.memory.peakBytes], [0, 8 * MIB]);
});

testOnDevice("CudaDevice.memory calls what another program holds other", (gpu) => {
  const before = gpu.memory.otherBytes;
  const cell = new BigUint64Array(1);
  gpu.context.call("cuMemAlloc_v2", cell, BigInt(64 * MIB));
  assertEquals(gpu.memory.otherBytes, before + 64 * MIB);
  gpu.context.call("cuMemFree_v2", cell[0] ?? 0n);
});

testOnDevice("CudaDevice.report() counts kinds and sizes of what is live", (gpu) => {
  using _a = gpu.alloc("uint8", 1024);
  using _b = gpu.alloc("uint8", 1500);
  using _c = gpu.pinned("uint8", 4096, { label: "staging" });
  using _stream = gpu.createStream();
  const { kinds, sizes, largest } = gpu.report().data;
  assertEquals(kinds, [
    { kind: "device", count: 2, byteLength: 2524 },
    { kind: "pinned", count: 1, byteLength: 4096 },
    { kind: "stream", count: 1, byteLength: 0 },
  ]);
  assertEquals(sizes, [
    { fromBytes: 1024, count: 2, byteLength: 2524 },
    { fromBytes: 4096, count: 1, byteLength: 4096 },
  ]);
  assertEquals(largest[0]?.name, "staging");
});

testOnDevice("CudaDevice.report() survives JSON and says the same there", (gpu) => {
  using _a = gpu.alloc("uint8", 1024, { label: "a" });
  const report = gpu.report();
  const read = JSON.parse(JSON.stringify(report));
  assertEquals(read.memory.liveBytes, 1024);
  assertEquals(read.largest[0].name, "a");
  assertEquals(read.device.totalCount, report.data.device.totalCount);
});

testOnDevice("CudaDevice.report() prints every part", (gpu) => {
  using _a = gpu.alloc("uint8", 2048, { label: "weights" });
  gpu.limit("1 GiB");
  const text = String(gpu.report());
  gpu.limit(undefined);
  for (
    const part of [
      gpu.name,
      "limited to 1 GiB",
      "live device",
      "blocks from 2 KiB",
      "collected undisposed",
      "weights",
    ]
  ) assertStringIncludes(text, part);
});

testOnDevice("CudaDevice.report() prints no cache that keeps nothing", (gpu) => {
  using x = gpu.alloc("uint8", MIB);
  const pinned = gpu.pinned("uint8", MIB).fill(1);
  x.copyFrom(pinned);
  pinned.dispose();
  gpu.synchronizeSync();
  const report = gpu.report();
  const [kept] = report.data.caches.filter(({ name }) => name === "work under way");
  assertEquals(kept?.byteLength ?? 0, 0); // a GPU may have been done before
  assertEquals(String(report).includes("work under way"), false);
});

testOnDevice("CudaDevice.track() prints and writes what it counted", (gpu) => {
  const track = gpu.track("epoch 1");
  using _kept = gpu.alloc("uint8", 1024);
  gpu.alloc("uint8", 2048).dispose();
  track.dispose();
  assertEquals(
    String(track),
    "epoch 1: 1 KiB in 1 buffer now, 3 KiB at most, 3 KiB in 2 in all",
  );
  assertEquals(JSON.parse(JSON.stringify(track)).peakBytes, 3072);
});
