// Streams of other libraries: work in their queue, order with ours, and who destroys them.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { type CudaDevice, CudaStream, DisposedError } from "../../../mod.ts";
import { testDriver, testOnTwoDevices } from "../../support/driver.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

/** A stream that a library made itself, and what its destructor is. */
function libraryStream(gpu: CudaDevice): { handle: bigint } & Disposable {
  const cell = new BigUint64Array(1);
  gpu.context.call("cuStreamCreateWithPriority", cell, 1, 0);
  const [handle = 0n] = cell;
  return { handle, [Symbol.dispose]: () => gpu.context.call("cuStreamDestroy_v2", handle) };
}

Deno.test("CudaStream.fromHandle() queues work on another library's stream, in its order", () =>
  withDevice(async (gpu) => {
    using theirs = libraryStream(gpu);
    using stream = CudaStream.fromHandle(theirs.handle, { gpu, owner: theirs, label: "theirs" });
    assertEquals([stream.handle, `${stream}`], [theirs.handle, "CudaStream(theirs)"]);
    using x = gpu.zeros("uint8", 1 << 16);
    x.fill(3, { stream });
    gpu.context.call("cuMemsetD8Async", x.ptr + 5n, 9, 1n, theirs.handle);
    assertEquals(await x.subarray(4, 7).download(undefined, { stream }), Uint8Array.of(3, 9, 3));
    x.fill(4);
    stream.wait(gpu.stream);
    await stream.synchronize();
    stream.synchronizeSync();
    assertEquals([stream.isIdle, await x.at(0)], [true, 4]);
    stream.dispose();
    assertThrows(() => stream.handle, DisposedError);
    assertEquals(gpu.context.driver.api.cuStreamQuery(theirs.handle), 0); // still theirs
  }));

Deno.test("CudaStream.fromHandle() takes what __cuda_stream__() tells, which streams of ours have", () =>
  withDevice((gpu) => {
    using ours = gpu.createStream();
    assertEquals(ours.__cuda_stream__(), [0, ours.handle]);
    using again = CudaStream.fromHandle(ours, { gpu });
    assertEquals(again.handle, ours.handle);
    const numbers = { __cuda_stream__: () => [0, Number(ours.handle)] as const };
    using byNumber = CudaStream.fromHandle(numbers, { gpu });
    assertEquals(byNumber.handle, ours.handle);
    assertEquals(CudaStream.fromHandle(gpu.stream, { gpu }), gpu.stream);
  }));

testOnDevice("CudaStream.fromHandle() refuses a value that is not a stream", (gpu) => {
  const wrong: readonly unknown[] = [
    ...[0n, -1n, 2n ** 64n, 5, "5", null, undefined, {}, gpu],
    { __cuda_stream__: () => [1, 5n] },
    { __cuda_stream__: () => 5n },
    { __cuda_stream__: () => [0, 0.5] },
  ];
  for (const source of wrong) {
    assertThrows(() => CudaStream.fromHandle(source as never, { gpu }), TypeError, "Cannot ");
  }
  assertThrows(() => CudaStream.fromHandle(5n, {} as never), TypeError, "pass { gpu }");
  assertThrows(() => CudaStream.fromHandle(5n, undefined as never), TypeError, "pass { gpu }");
  assertThrows(() => CudaStream.fromHandle(5n, { gpu: {} } as never), TypeError, '"gpu"');
});

for (const [name, handle] of [["legacy", 1n], ["thread's", 2n]] as const) {
  Deno.test(`the ${name} default stream is waited for without a call on another thread`, async () => {
    const driver = testDriver();
    const elsewhere: bigint[] = [];
    const watched = {
      ...driver,
      cuStreamSynchronizeNonblocking: (stream: number | bigint) => {
        elsewhere.push(BigInt(stream));
        return driver.cuStreamSynchronizeNonblocking(BigInt(stream));
      },
    };
    await withDevice(async (gpu) => {
      using stream = CudaStream.fromHandle(handle, { gpu });
      using x = gpu.zeros("uint8", 64 << 20);
      for (let value = 0; value < 20; value++) x.fill(value, { stream });
      await stream.synchronize();
      assertEquals(await x.at(7), 19);
      const upload = x.upload(new Uint8Array(64 << 20).fill(1), { stream });
      x.fill(5, { stream });
      await stream.synchronize();
      await upload;
      stream.synchronizeSync();
      using event = stream.record();
      await event.synchronize();
      assertEquals(await x.at(64 << 19), 5);
      assert(!elsewhere.includes(handle), "a thread waited for its own default stream");
    }, { driver: watched });
  });

  testOnTwoDevices(
    `the ${name} default stream is that of its device, whichever is current`,
    async (first, second) => {
      using stream = CudaStream.fromHandle(handle, { gpu: second });
      using x = second.zeros("uint8", 8);
      first.context.driver.call("cuCtxSetCurrent", first.context.handle);
      x.fill(3, { stream });
      await stream.synchronize();
      first.context.driver.call("cuCtxSetCurrent", first.context.handle);
      using y = first.zeros("uint8", 8);
      y.fill(4);
      assertEquals([await x.at(1), await y.at(1)], [3, 4]);
      first.context.driver.call("cuCtxSetCurrent", 0n);
    },
  );
}

Deno.test("a foreign stream's buffers are freed after its work, also when it was disposed before", () =>
  withDevice(async (gpu) => {
    using theirs = libraryStream(gpu);
    {
      using stream = CudaStream.fromHandle(theirs.handle, { gpu, owner: theirs });
      using x = gpu.alloc("uint8", 4096, { stream });
      x.fill(1, { stream });
    }
    using y = gpu.zeros("uint8", 4096);
    assertEquals(await y.at(0), 0);
  }));
