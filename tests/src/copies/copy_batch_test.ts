// Batches of copies: one call where the driver has it, a loop where not, the same result.

import { assertEquals, assertThrows } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import type { BufferCopy } from "../../../src/buffers/batch.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import { CudaError, DisposedError } from "../../../src/words/errors.ts";
import { testOnTwoDevices } from "../../support/driver.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const OLD_DRIVER = 12040;

for (const driverVersion of [OLD_DRIVER, 13000]) {
  Deno.test(`CudaDevice.copyBatch() copies all pairs under driver ${driverVersion}`, () =>
    withDevice(checkBatch, { driver: simulateDriver({ driverVersion }) }));
}

testOnDevice("CudaDevice.copyBatch() copies all pairs under the driver at hand", checkBatch);

async function checkBatch(gpu: CudaDevice): Promise<void> {
  using source = await gpu.upload(Uint8Array.from({ length: 100 }, (_, index) => index));
  using target = gpu.zeros("uint8", 100);
  using pinned = gpu.pinned("uint8", 10);
  using empty = gpu.alloc("uint8", 0);
  gpu.copyBatch([
    ...[...source.chunks(7)].map((part, index) => ({
      source: part,
      destination: target.subarray(index * 7, index * 7 + part.length),
    })),
    { source: source.subarray(90), destination: pinned },
    { source: empty, destination: empty },
  ]);
  assertEquals(await target.download(), await source.download());
  assertEquals([...await pinned.download()], [90, 91, 92, 93, 94, 95, 96, 97, 98, 99]);
}

Deno.test("CudaDevice.copyBatch() makes one driver call of independent copies", () => {
  const driver = simulateDriver();
  let singleCopies = 0;
  const cuMemcpyAsync: typeof driver.cuMemcpyAsync = (...args) => {
    singleCopies++;
    return driver.cuMemcpyAsync(...args);
  };
  return withDevice((gpu) => {
    using source = gpu.zeros("uint8", 100);
    using target = gpu.zeros("uint8", 100);
    const parts = [...source.chunks(10)].map((part, index) => ({
      source: part,
      destination: target.subarray(index * 10, index * 10 + 10),
    }));
    gpu.copyBatch(parts);
    assertEquals(singleCopies, 0);
  }, { driver: { ...driver, cuMemcpyAsync } });
});

Deno.test("CudaDevice.copyBatch() keeps the order of copies that depend on each other", () => {
  const driver = simulateDriver();
  // A driver may run a batch in any order; this one takes the last copy first.
  const cuMemcpyBatchAsync: typeof driver.cuMemcpyBatchAsync = (...args) => {
    const [destinations, sources, sizes, count, , , , , stream] = args;
    const cells = [destinations, sources, sizes] as BigUint64Array[];
    for (let index = Number(count) - 1; index >= 0; index--) {
      const [to = 0n, from = 0n, byteLength = 0n] = cells.map((cell) => cell[index]);
      driver.cuMemcpyAsync(to, from, byteLength, stream);
    }
    return 0;
  };
  return withDevice(async (gpu) => {
    using first = await gpu.upload(new Uint8Array([1, 2, 3, 4]));
    using second = gpu.zeros("uint8", 4);
    using third = gpu.zeros("uint8", 4);
    gpu.copyBatch([
      { source: first, destination: second },
      { source: second, destination: third },
      { source: third.subarray(0, 2), destination: first.subarray(2) },
      { source: third.subarray(3), destination: first.subarray(2, 3) },
    ]);
    assertEquals([...await third.download()], [1, 2, 3, 4]);
    assertEquals([...await first.download()], [1, 2, 4, 2]);
  }, { driver: { ...driver, cuMemcpyBatchAsync } });
});

testOnDevice("CudaDevice.copyBatch() waits for a write on another stream", async (gpu) => {
  using stream = gpu.createStream();
  using source = gpu.zeros("uint8", 8);
  using target = gpu.zeros("uint8", 8);
  source.fill(5);
  gpu.copyBatch([{ source, destination: target }], { stream });
  source.fill(6);
  assertEquals([...await target.download()], Array(8).fill(5));
});

for (const driverVersion of [OLD_DRIVER, 13000]) {
  Deno.test(`CudaDevice.copyBatch() fails where a copy does under driver ${driverVersion}`, () => {
    const { driver, setFault } = faultyDriver(simulateDriver({ driverVersion }));
    return withDevice((gpu) => {
      using from = gpu.zeros("uint8", 8);
      using to = gpu.zeros("uint8", 8);
      const copies = [0, 4].map((start) => ({
        source: from.subarray(start, start + 4),
        destination: to.subarray(start, start + 4),
      }));
      const name = driverVersion === OLD_DRIVER ? "cuMemcpyAsync" : "cuMemcpyBatchAsync";
      setFault({ name });
      assertThrows(() => gpu.copyBatch(copies), CudaError, name);
      setFault(undefined);
      gpu.copyBatch(copies);
    }, { driver });
  });
}

testOnDevice("CudaDevice.copyBatch() queues nothing when a pair is wrong", async (gpu) => {
  using source = await gpu.upload(new Uint8Array([1, 2]));
  using target = gpu.zeros("uint8", 2);
  using long = gpu.zeros("uint8", 3);
  using floats = gpu.zeros("float32", 2);
  const good = { source, destination: target };
  const refuse = (bad: unknown, message: string) =>
    assertThrows(() => gpu.copyBatch([good, bad as BufferCopy]), Error, message);
  refuse({ source, destination: long }, "Cannot copy 2 bytes into 3: destination is too large");
  refuse({ source, destination: floats }, "element types differ");
  refuse(
    { source: new Uint8Array(2), destination: target },
    "the source of copy 1 is a Uint8Array",
  );
  refuse(undefined, "the destination of copy 1 is undefined");
  refuse(
    { source: target.subarray(0, 1), destination: target.subarray(0, 1) },
    "onto themselves",
  );
  const one = good as unknown as Iterable<BufferCopy>;
  assertThrows(() => gpu.copyBatch(one), TypeError, "expected an array");
  assertEquals([...await target.download()], [0, 0]);
});

testOnDevice("CudaDevice.copyBatch() notices a buffer that its iterable disposes", async (gpu) => {
  const source = gpu.zeros("uint8", 2);
  using target = gpu.zeros("uint8", 2).fill(1);
  function* copies(): Generator<BufferCopy> {
    yield { source, destination: target };
    source.dispose();
  }
  assertThrows(() => gpu.copyBatch(copies()), DisposedError);
  assertEquals(await target.download(), Uint8Array.of(1, 1));
});

testOnDevice("CudaDevice.copyBatch() of nothing does nothing", (gpu) => gpu.copyBatch([]));

testOnTwoDevices("CudaDevice.copyBatch() copies across devices too", async (first, second) => {
  using source = await first.upload(new Uint8Array([1, 2, 3]));
  using near = first.zeros("uint8", 3);
  using far = second.zeros("uint8", 3);
  await second.synchronize();
  first.copyBatch([{ source, destination: near }, { source, destination: far }]);
  assertEquals([...await far.download()], [1, 2, 3]);
  assertEquals([...await near.download()], [1, 2, 3]);
});
