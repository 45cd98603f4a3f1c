// Checks transfers between device buffers and ordinary arrays: every type, the ways they are refused,
// what is left after a failure.

import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import type { Uploadable } from "../../../src/buffers/gpu_buffer.ts";
import {
  allocateBits,
  DTYPE_NAMES,
  elementBytes,
  type HostArray,
  isSmallFloat,
} from "../../../src/dtype.ts";
import { CudaError, DisposedError } from "../../../src/words/errors.ts";
import { assertHoldsOnly, assertSameBytes, patternBytes } from "../../support/contents.ts";
import { faultyDriver, watchedDriver } from "../../support/faulty_driver.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

for (const dtype of DTYPE_NAMES) {
  testOnDevice(`DeviceBuffer.upload() and download() keep every bit of ${dtype}`, async (gpu) => {
    const source = patternBytes(1000 * elementBytes(dtype)).buffer;
    using buffer = gpu.alloc(dtype, 1000);
    assertStrictEquals(await buffer.upload(source), buffer);
    const back = allocateBits(dtype, 1000);
    assertStrictEquals(await buffer.download(back.buffer), back.buffer);
    assertEquals(new Uint8Array(back.buffer), new Uint8Array(source));
    assertEquals(
      new Uint8Array(buffer.uploadSync(source).downloadSync(back.buffer)),
      new Uint8Array(source),
    );
  });
}

testOnDevice("DeviceBuffer.download() gives the typed array of each type", async (gpu) => {
  for (const dtype of DTYPE_NAMES) {
    using buffer = gpu.zeros(dtype, 4);
    const array = await buffer.download();
    const expected = isSmallFloat(dtype) ? Float32Array : allocateBits(dtype, 0).constructor;
    assertStrictEquals(array.constructor, expected);
    assertEquals(array.length, dtype === "complex64" ? 8 : 4);
  }
});

Deno.test("DeviceBuffer.upload() rounds float32 to bfloat16, and download() widens it", () =>
  withDevice(async (gpu) => {
    using buffer = gpu.alloc("bfloat16", 3);
    await buffer.upload(new Float32Array([1.5, NaN, 1 + 2 ** -9]));
    assertEquals(await buffer.download(), new Float32Array([1.5, NaN, 1]));
    const bits = await buffer.download(new Uint16Array(3));
    assertEquals(bits[0], 0x3fc0);
    const floats = new Float32Array(3);
    assertStrictEquals(buffer.downloadSync(floats), floats);
    assertEquals(floats[0], 1.5);
  }));

testOnDevice("DeviceBuffer.upload() takes views at odd offsets of shared memory", async (gpu) => {
  using buffer = gpu.alloc("uint8", 5);
  const memory = new SharedArrayBuffer(16);
  new Uint8Array(memory).set(patternBytes(16));
  await buffer.upload(new Uint8Array(memory, 3, 5));
  const target = new Uint8Array(new SharedArrayBuffer(16), 7, 5);
  await buffer.download(target);
  assertSameBytes(target, patternBytes(16).subarray(3, 8));
  assertEquals(target.buffer.byteLength, 16);
});

testOnDevice("DeviceBuffer.upload() of a view writes its part alone", async (gpu) => {
  using buffer = gpu.zeros("uint8", 8);
  await buffer.subarray(2, 5).upload(new Uint8Array([1, 2, 3]));
  assertEquals([...await buffer.download()], [0, 0, 1, 2, 3, 0, 0, 0]);
});

testOnDevice("DeviceBuffer.upload() has read the array when it resolves", async (gpu) => {
  using buffer = gpu.alloc("uint8", 4);
  const source = new Uint8Array([1, 2, 3, 4]);
  await buffer.upload(source);
  source.fill(0);
  assertEquals([...buffer.downloadSync()], [1, 2, 3, 4]);
});

const MISFITS: Record<string, [make: () => unknown, type: typeof RangeError | typeof TypeError]> = {
  "a shorter array": [() => new Float32Array(3), RangeError],
  "a longer array": [() => new Float32Array(5), RangeError],
  "an empty array": [() => new Float32Array(0), RangeError],
  "too few raw bytes": [() => new ArrayBuffer(15), RangeError],
  "another element type": [() => new Int32Array(4), TypeError],
  "another width": [() => new Float64Array(4), TypeError],
  "a detached array": [() => detached(4), TypeError],
  "a resizable array": [
    () => new Float32Array(new ArrayBuffer(16, { maxByteLength: 32 })),
    TypeError,
  ],
  "an ordinary array": [() => [1, 2, 3, 4], TypeError],
  "null": [() => null, TypeError],
};

for (const [name, [make, type]] of Object.entries(MISFITS)) {
  Deno.test(`DeviceBuffer refuses ${name} both ways without a driver call`, () => {
    const { driver, calls } = watchedDriver();
    return withDevice(async (gpu) => {
      using buffer = gpu.alloc("float32", 4);
      buffer.uploadSync(new Float32Array([1, 2, 3, 4]));
      const misfit = make() as Uploadable<"float32">;
      calls.length = 0;
      await assertRejects(() => buffer.upload(misfit), type);
      assertThrows(() => buffer.uploadSync(misfit), type);
      await assertRejects(() => buffer.download(misfit), type);
      assertThrows(() => buffer.downloadSync(misfit), type);
      assertEquals(calls, []);
      assertEquals([...buffer.downloadSync()], [1, 2, 3, 4]);
    }, { driver });
  });
}

testOnDevice("DeviceBuffer names a promise in the place of an array or a buffer", async (gpu) => {
  using buffer = gpu.alloc("float32", 4, { label: "x" });
  const coming = gpu.upload(new Float32Array(4)); // a forgotten await
  const promise = coming as unknown as typeof buffer & Float32Array<ArrayBuffer>;
  const strided = buffer.strided();
  const calls = [
    () => buffer.copyFrom(promise),
    () => buffer.copyTo(promise),
    () => strided.copyFrom(promise),
    () => strided.copyTo(promise),
    () => buffer.uploadSync(promise),
    () => buffer.fillPattern(promise),
    () => gpu.uploadSync(promise),
    () => gpu.copyBatch([{ source: promise, destination: buffer }]),
    () => gpu.register(promise),
  ];
  for (const call of calls) assertThrows(call, TypeError, "a promise, which has to be awaited");
  await assertRejects(() => gpu.from(promise as never), TypeError, "which has to be awaited");
  (await coming).dispose();
});

testOnDevice("DeviceBuffer.upload() says both sizes and the number of elements", async (gpu) => {
  using buffer = gpu.alloc("float32", [2, 2], { label: "x" });
  await assertRejects(
    () => buffer.upload(new Float32Array(3)),
    RangeError,
    "Cannot upload to DeviceBuffer(x, float32[2, 2]): the array has 12 bytes, the buffer 16 (4 elements)",
  );
});

for (const name of ["cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2"] as const) {
  Deno.test(`DeviceBuffer works again after ${name} failed`, () => {
    const { driver, setFault } = faultyDriver(simulateDriver());
    return withDevice(async (gpu) => {
      using buffer = gpu.zeros("uint8", 4);
      setFault({ name });
      const move = () =>
        name === "cuMemcpyHtoDAsync_v2" ? buffer.upload(new Uint8Array(4)) : buffer.download();
      const error = await assertRejects(move, CudaError);
      assertEquals(error.call, name);
      setFault(undefined);
      await buffer.upload(new Uint8Array([1, 2, 3, 4]));
      assertEquals([...await buffer.download()], [1, 2, 3, 4]);
    }, { driver });
  });
}

testOnDevice("DeviceBuffer.upload() into a buffer disposed meanwhile ends well", async (gpu) => {
  const buffer = gpu.alloc("uint8", LATE_BYTES);
  const uploading = buffer.upload(patternBytes(LATE_BYTES));
  requireUnderWay(gpu.stream);
  buffer.dispose();
  await uploading;
  assert(buffer.disposed);
  await assertRejects(() => buffer.download(), DisposedError);
});

testOnDevice("DeviceBuffer moves large arrays that no piece divides", async (gpu) => {
  const size = 20 * 2 ** 20 + 13;
  using buffer = gpu.alloc("uint8", size);
  const source = patternBytes(size, 3);
  await buffer.upload(source);
  assertSameBytes(await buffer.download(), source);
  source.reverse();
  buffer.uploadSync(source);
  assertSameBytes(buffer.downloadSync(), source);
});

for (const size of [4096, 16 * 2 ** 20]) {
  testOnDevice(`DeviceBuffer reports progress up to the end for ${size} bytes`, async (gpu) => {
    using buffer = gpu.zeros("uint8", size);
    for (const direction of ["upload", "download"] as const) {
      const seen: number[] = [];
      const onProgress = (done: number, total: number) => {
        assertEquals(total, size);
        seen.push(done);
      };
      if (direction === "upload") await buffer.upload(new Uint8Array(size), { onProgress });
      else await buffer.download(undefined, { onProgress });
      assertEquals(seen.at(-1), size);
      assertEquals(seen, seen.toSorted((a, b) => a - b));
    }
  });

  testOnDevice(`DeviceBuffer starts no aborted transfer of ${size} bytes`, async (gpu) => {
    using buffer = gpu.zeros("uint8", size);
    const signal = AbortSignal.abort(new RangeError("stop"));
    await assertRejects(
      () => buffer.upload(new Uint8Array(size).fill(1), { signal }),
      RangeError,
    );
    await assertRejects(() => buffer.download(undefined, { signal }), RangeError, "stop");
    assertHoldsOnly(buffer.downloadSync(), 0);
  });
}

Deno.test("DeviceBuffer moves 0 bytes without a driver call", () => {
  const { driver, calls } = watchedDriver();
  return withDevice(async (gpu) => {
    using buffer = gpu.alloc("float32", 0);
    calls.length = 0;
    await buffer.upload(new Float32Array(0));
    buffer.uploadSync(new Float32Array(0));
    assertEquals((await buffer.download()).length, 0);
    assertEquals(buffer.downloadSync().length, 0);
    buffer.fill(1).clear();
    assertEquals(calls, []);
  }, { driver });
});

function detached(length: number): HostArray {
  const array = new Float32Array(length);
  array.buffer.transfer();
  return array;
}
