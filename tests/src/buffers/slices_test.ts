// slice() copies where subarray() shares; allocateLike() makes another of the same kind.

import { assertEquals, assertNotEquals } from "@std/assert";
import { testOnDevice } from "../../support/with_device.ts";

testOnDevice("GpuBuffer.slice() copies a range that later writes leave alone", async (gpu) => {
  using buffer = await gpu.upload(new Int32Array([1, 2, 3, 4]));
  using copy = buffer.slice(1, -1);
  buffer.fill(0);
  assertEquals([...await copy.download()], [2, 3]);
  assertNotEquals(copy.storageId, buffer.storageId);
  assertEquals(copy.isView, false);
});

testOnDevice("GpuBuffer.slice() without a range keeps the shape, also of a view", async (gpu) => {
  using buffer = gpu.iota("float32", [3, 2]);
  using copy = buffer.slice();
  using rows = buffer.rows(1).slice(undefined, undefined, { label: "rows" });
  assertEquals([copy.shape, rows.shape, rows.isView], [[3, 2], [2, 2], false]);
  assertEquals([...await rows.download()], [2, 3, 4, 5]);
  assertEquals(await copy.equals(buffer), true);
});

testOnDevice("GpuBuffer.slice() clamps its range as TypedArray.slice does", async (gpu) => {
  const values = new Int32Array([1, 2, 3, 4]);
  using buffer = await gpu.upload(values);
  for (const [start, end] of [[-3, 99], [3, 1], [9, 12], [0, 0], [-99, 2]] as const) {
    using copy = buffer.slice(start, end);
    assertEquals(await copy.download(), values.slice(start, end));
  }
});

testOnDevice("GpuBuffer.allocateLike() keeps kind, type and resource", (gpu) => {
  using buffer = gpu.alloc("float16", [2, 3]);
  using same = buffer.allocateLike();
  using other = buffer.allocateLike([5], { label: "other" });
  assertEquals([same.dtype, same.shape, same.kind], [buffer.dtype, buffer.shape, buffer.kind]);
  assertEquals([other.shape, other.label], [[5], "other"]);
  assertEquals(other.memoryResource, buffer.memoryResource);
});
