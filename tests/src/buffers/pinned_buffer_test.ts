// Checks that page-locked memory is a typed array as long as it lives, and an empty one afterwards.

import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { allocateBits, DTYPE_NAMES, elementBytes } from "../../../src/dtype.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { assertSameBytes, patternBytes } from "../../support/contents.ts";
import { testOnDevice } from "../../support/with_device.ts";

for (const dtype of DTYPE_NAMES) {
  testOnDevice(`PinnedBuffer.array shows ${dtype} over the memory itself`, (gpu) => {
    using pinned = gpu.pinned(dtype, 100);
    assertEquals(pinned.array.byteLength, 100 * elementBytes(dtype));
    assertEquals(pinned.array.constructor, allocateBits(dtype, 0).constructor);
    const bytes = patternBytes(pinned.byteLength);
    new Uint8Array(pinned.array.buffer).set(bytes);
    using device = gpu.alloc(dtype, 100).copyFrom(pinned);
    const back = device.downloadSync(new ArrayBuffer(pinned.byteLength));
    assertSameBytes(new Uint8Array(back), bytes);
  });
}

testOnDevice("PinnedBuffer.array is one array, and views share its memory", (gpu) => {
  using pinned = gpu.pinned("float32", [2, 4]);
  assertStrictEquals(pinned.array, pinned.array);
  const row = pinned.view(1);
  assertStrictEquals(row.array.buffer, pinned.array.buffer);
  assertEquals([row.array.byteOffset, row.array.length], [16, 4]);
  row.array.fill(3);
  assertEquals([...pinned.array.subarray(4)], [3, 3, 3, 3]);
});

testOnDevice("PinnedBuffer.dispose() empties every array over the memory", (gpu) => {
  const pinned = gpu.pinned("float32", 8);
  const { array } = pinned;
  const part = pinned.subarray(2, 4).array;
  const { buffer } = array;
  pinned.dispose();
  assertEquals([array.length, part.length, buffer.byteLength], [0, 0, 0]);
  assertThrows(() => pinned.array, DisposedError);
});

testOnDevice("PinnedBuffer.dispose() of a view leaves the arrays alone", (gpu) => {
  using pinned = gpu.pinned("float32", 8);
  const { array } = pinned;
  pinned.subarray(2).dispose();
  assertEquals(array.length, 8);
});

testOnDevice("PinnedBuffer.array of 0 elements is empty", (gpu) => {
  using pinned = gpu.pinned("float64", 0);
  assertEquals([pinned.array.length, pinned.ptr], [0, 0n]);
});

testOnDevice("PinnedBuffer.copyTo() and copyFrom() move bytes both ways on a stream", (gpu) => {
  using stream = gpu.createStream();
  using there = gpu.pinned("uint32", 1000, { stream });
  using back = gpu.pinned("uint32", 1000, { stream });
  using device = gpu.alloc("uint32", 1000, { stream });
  there.array.forEach((_, index, array) => array[index] = index);
  there.copyTo(device, { stream });
  back.copyFrom(device, { stream });
  stream.synchronizeSync();
  assertEquals(back.array, there.array);
});

testOnDevice("PinnedBuffer refuses transfers between parts of it that overlap", async (gpu) => {
  using pinned = gpu.pinned("uint8", 16);
  pinned.array.set(Uint8Array.from({ length: 16 }, (_, at) => at));
  const before = [...pinned.array];
  const part = pinned.subarray(0, 8);
  for (const start of [0, 4, 7]) {
    const other = pinned.array.subarray(start, start + 8);
    const words = `onto themselves, ${start} bytes apart`;
    await assertRejects(() => part.upload(other), RangeError, words);
    await assertRejects(() => part.download(other), RangeError, words);
    assertThrows(() => part.uploadSync(other), RangeError, words);
    assertThrows(() => part.downloadSync(other), RangeError, words);
  }
  assertEquals([...pinned.array], before);
  await part.upload(pinned.array.subarray(8));
  assertEquals([...part.array], before.slice(8));
});
