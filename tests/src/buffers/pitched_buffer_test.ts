// Pitched buffers: padded rows that copies, fills and transfers see without the padding.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { CUresult } from "../../../ffi/constants.ts";
import { DisposedError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

function numbers(length: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length }, (_, index) => index);
}

Deno.test("PitchedBuffer pads its rows, and upload() and download() leave the padding out", () =>
  withDevice(async (gpu) => {
    using rows = gpu.pitched("float32", [3, 5], { label: "image" });
    assert(rows.pitchBytes >= 20 && rows.pitchBytes % 4 === 0);
    assertEquals([[...rows.shape], rows.strides], [[3, 5], [rows.pitchBytes / 4, 1]]);
    assertEquals(rows.buffer.byteLength, 3 * rows.pitchBytes);
    await rows.upload(numbers(15));
    assertEquals(await rows.download(), numbers(15));
    assertEquals(String(rows), `PitchedBuffer(image, float32[3, 5] by ${rows.pitchBytes} bytes)`);
    const second = rows.pitchBytes / 4;
    assertEquals([...rows.buffer.subarray(second, second + 2).downloadSync()], [5, 6]);
  }));

testOnDevice("PitchedBuffer copies rows from and to other buffers", async (gpu) => {
  using rows = gpu.pitched("float32", [4, 3]);
  using packed = await gpu.upload(numbers(12), { shape: [4, 3] });
  rows.copyFrom(packed);
  using turned = gpu.alloc("float32", [3, 4]);
  turned.copyFrom(rows.transpose());
  assertEquals([...turned.downloadSync()], [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]);
  rows.view(1).fill(9);
  assertEquals([...(await rows.download()).subarray(2, 7)], [2, 9, 9, 9, 6]);
});

testOnDevice("PitchedBuffer takes every element size, and axes before the rows", async (gpu) => {
  using bytes = gpu.pitched("uint8", [2, 3]);
  await bytes.upload(Uint8Array.of(1, 2, 3, 4, 5, 6));
  assertEquals(await bytes.download(), Uint8Array.of(1, 2, 3, 4, 5, 6));
  using planes = gpu.pitched("float64", [2, 2, 3]);
  await planes.upload(Float64Array.from(numbers(12)));
  assertEquals(await planes.download(), Float64Array.from(numbers(12)));
  assertEquals(planes.strides, [planes.pitchBytes / 4, planes.pitchBytes / 8, 1]);
});

testOnDevice("PitchedBuffer.dispose() frees the block", (gpu) => {
  const rows = gpu.pitched("float32", [3, 5]);
  assertEquals(gpu.live().count, 1);
  rows.dispose();
  rows.dispose();
  assertEquals([gpu.live().count, rows.disposed, rows.buffer.disposed], [0, true, true]);
  assertThrows(() => rows.fill(1), DisposedError);
  assertThrows(() => rows.ptr, DisposedError);
});

testOnDevice("PitchedBuffer refuses shapes that have no rows", (gpu) => {
  for (const shape of [[5], [], [0, 5], [5, 0]]) {
    assertThrows(() => gpu.pitched("float32", shape), RangeError, "at least one row");
  }
  assertThrows(() => gpu.pitched("float32", [-1, 2]), RangeError);
  assertEquals(gpu.live().count, 0);
});

Deno.test("allocatePitchedBuffer() says all amounts when memory runs out", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice((gpu) => {
    setFault({ name: "cuMemAllocPitch_v2", status: CUresult.CUDA_ERROR_OUT_OF_MEMORY });
    const error = assertThrows(() => gpu.pitched("float32", [3, 5]), OutOfMemoryError);
    assertEquals(error.requestedBytes, 60);
    setFault(undefined);
    assertEquals(gpu.live().count, 0);
  }, { driver });
});
