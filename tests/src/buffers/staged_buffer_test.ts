// Staged buffers: what push and pull move, and when.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { CUresult } from "../../../ffi/constants.ts";
import { CudaError } from "../../../src/words/errors.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

Deno.test("StagedBuffer.push() brings the mirror to the device, pull() brings it back", () =>
  withDevice(async (gpu) => {
    using staged = gpu.staged("float32", [2, 3]);
    staged.contents.set([1, 2, 3, 4, 5, 6]);
    await staged.push();
    assertEquals(staged.downloadSync(), new Float32Array([1, 2, 3, 4, 5, 6]));
    staged.fill(7);
    assertEquals([...staged.contents], [1, 2, 3, 4, 5, 6]);
    await staged.pull();
    assertEquals([...staged.contents], [7, 7, 7, 7, 7, 7]);
  }));

testOnDevice("StagedBuffer.push() and pull() move a range only", async (gpu) => {
  using staged = gpu.staged("int32", 6);
  staged.clear();
  staged.contents.set([1, 2, 3, 4, 5, 6]);
  await staged.push({ start: 1, end: 3 });
  assertEquals([...staged.downloadSync()], [0, 2, 3, 0, 0, 0]);
  staged.fill(9);
  await staged.pull({ start: -2 });
  assertEquals([...staged.contents], [1, 2, 3, 4, 9, 9]);
  await staged.pull({ start: 4, end: 4 });
  assertEquals([...staged.contents], [1, 2, 3, 4, 9, 9]);
});

testOnDevice("StagedBuffer.view() pushes its own part", async (gpu) => {
  using staged = gpu.staged("uint8", [2, 2]);
  staged.clear();
  staged.contents.set([1, 2, 3, 4]);
  using row = staged.view(1);
  assertEquals([...row.contents], [3, 4]);
  await row.push();
  assertEquals([...staged.downloadSync()], [0, 0, 3, 4]);
});

testHolding("StagedBuffer.pull() queues without waiting, and await waits", async (gpu) => {
  using stream = gpu.createStream();
  using staged = gpu.staged("uint8", 4);
  staged.contents.fill(1);
  await staged.push({ stream });
  staged.fill(8, { stream });
  {
    using held = new HeldStream(gpu, stream);
    const pulled = staged.pull({ stream });
    assertEquals([...staged.contents], [1, 1, 1, 1]);
    held.release();
    await pulled;
    assertEquals([...staged.contents], [8, 8, 8, 8]);
  }
  staged.pull({ stream }).synchronizeSync();
  assert(stream.isIdle);
});

Deno.test("StagedBuffer.push() awaited rejects with what the copy failed with", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice(async (gpu) => {
    using staged = gpu.staged("uint8", 4);
    staged.contents.fill(1);
    const pushed = staged.push();
    setFault({ name: "cuStreamQuery", status: CUresult.CUDA_ERROR_LAUNCH_TIMEOUT });
    await assertRejects(async () => await pushed, CudaError, "CUDA_ERROR_LAUNCH_TIMEOUT");
    setFault(undefined);
    gpu.synchronizeSync();
  }, { driver });
});

testOnDevice("StagedBuffer.dispose() empties the contents and frees both halves", (gpu) => {
  const staged = gpu.staged("uint8", 1000);
  const { contents } = staged;
  const part = staged.subarray(0, 10).contents;
  assertEquals(gpu.live().count, 2);
  staged.dispose();
  assertEquals([contents.length, part.length, gpu.live().count], [0, 0, 0]);
});

testOnDevice("StagedBuffer.mirror is a buffer of its own kind that frees nothing", (gpu) => {
  using staged = gpu.staged("uint8", 4);
  staged.mirror.array.set([1, 2, 3, 4]);
  using other = gpu.alloc("uint8", 4);
  other.copyFrom(staged.mirror);
  staged.mirror.dispose();
  assertEquals([...other.downloadSync()], [1, 2, 3, 4]);
  assertEquals(staged.subarray(0, 2).mirror.array.length, 2);
});
