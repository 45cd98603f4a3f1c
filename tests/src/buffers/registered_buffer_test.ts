// Registered memory: the program's own array, in place, and everything that must not be registered.

import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import { CU_MEMHOSTREGISTER, CUdevice_attribute, CUresult } from "../../../ffi/constants.ts";
import type { DriverApi } from "../../../ffi/cuda.ts";
import { CudaError, CudaUnavailableError, DisposedError } from "../../../src/words/errors.ts";
import { assertHoldsOnly, patternBytes } from "../../support/contents.ts";
import { ON_GPU, testDriver } from "../../support/driver.ts";
import { watchedDriver } from "../../support/faulty_driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const PAGE_BYTES = 4096;

/** A part of an array that shares no page with other arrays, and starts in the middle of a page. */
function ownPages(byteLength: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new ArrayBuffer(byteLength + 2 * PAGE_BYTES), PAGE_BYTES + 24, byteLength);
}

testOnDevice("RegisteredBuffer is the array itself, for the GPU too", (gpu) => {
  const bytes = ownPages(400);
  const array = new Float32Array(bytes.buffer, bytes.byteOffset, 100).fill(3);
  using registered = gpu.register(array);
  assertEquals([registered.dtype, registered.length, registered.kind], [
    "float32",
    100,
    "registered",
  ]);
  using device = gpu.alloc("float32", 100);
  device.copyFrom(registered);
  assertEquals(device.downloadSync(), new Float32Array(100).fill(3));
  device.fill(5);
  registered.copyFrom(device);
  gpu.synchronizeSync();
  assertEquals(array[99], 5);
  assertEquals(bytes[400], undefined);
  assertStrictEquals(registered.array.buffer, array.buffer);
});

testOnDevice("RegisteredBuffer.dispose() leaves the array's contents to the program", (gpu) => {
  const bytes = ownPages(64);
  bytes.fill(4);
  const registered = gpu.register(bytes);
  registered.dispose();
  assertEquals([bytes.length, bytes[63], gpu.live().count], [64, 4, 0]);
  gpu.register(bytes).dispose();
});

Deno.test("RegisteredBuffer takes an ArrayBuffer, a SharedArrayBuffer, a DataView and a shape", () =>
  withDevice((gpu) => {
    {
      using plain = gpu.register(new ArrayBuffer(3 * PAGE_BYTES));
      assertEquals([plain.dtype, plain.length], ["uint8", 3 * PAGE_BYTES]);
    }
    {
      const shared = new SharedArrayBuffer(2 * PAGE_BYTES);
      using numbers = gpu.register(shared, { dtype: "uint32", shape: [2, PAGE_BYTES / 4] });
      numbers.fill(7);
      gpu.synchronizeSync();
      assertEquals(new Uint32Array(shared)[PAGE_BYTES / 4], 7);
    }
    const { buffer } = ownPages(64);
    using view = gpu.register(new DataView(buffer, PAGE_BYTES, 64), { dtype: "float64" });
    assertEquals([view.dtype, view.length], ["float64", 8]);
  }));

testOnDevice("RegisteredBuffer refuses memory that can move or be resized", (gpu) => {
  const resizable = new ArrayBuffer(PAGE_BYTES, { maxByteLength: 2 * PAGE_BYTES });
  assertThrows(() => gpu.register(resizable), TypeError, "resizable");
  assertThrows(() => gpu.register(new Uint8Array(resizable)), TypeError, "resizable");
  const growable = new SharedArrayBuffer(PAGE_BYTES, { maxByteLength: 2 * PAGE_BYTES });
  assertThrows(() => gpu.register(growable), TypeError, "growable");
  const detached = new ArrayBuffer(PAGE_BYTES);
  detached.transfer();
  assertThrows(() => gpu.register(detached), TypeError, "detached");
  assertEquals(gpu.live().count, 0);
});

testOnDevice("RegisteredBuffer refuses types and shapes that do not fit the bytes", (gpu) => {
  const bytes = ownPages(10);
  assertThrows(() => gpu.register(bytes, { dtype: "float32" }), RangeError, "Cannot register 10");
  assertThrows(() => gpu.register(bytes, { shape: [3, 3] }), RangeError, "Cannot register 10");
  const odd = bytes.subarray(1, 9);
  assertThrows(() => gpu.register(odd, { dtype: "float32" }), RangeError, "Cannot register 8");
  assertEquals(gpu.live().count, 0);
});

testOnDevice("RegisteredBuffer refuses an array whose memory is registered already", (gpu) => {
  const bytes = ownPages(100);
  using _registered = gpu.register(bytes);
  const error = assertThrows(
    () => gpu.register(bytes.subarray(10, 20)),
    CudaError,
    "is registered already; register the whole array once",
  );
  assertEquals(error.code, CUresult.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  assertEquals(gpu.live().count, 1);
});

Deno.test("RegisteredBuffer registers an array again while the GPU still uses its former registration", () =>
  withDevice(async (gpu) => {
    using stream = gpu.createStream();
    using ones = gpu.alloc("float32", 2048).fill(1);
    const array = new Float32Array(2048);
    for (const part of [array, array.subarray(0, 1024)]) {
      const former = gpu.register(array.fill(7));
      former.copyFrom(ones, { stream });
      former.dispose();
      using again = gpu.register(part);
      assertHoldsOnly(array, 1);
      again.fill(3);
      await gpu.synchronize();
      assertEquals(array[0], 3);
    }
  }));

testOnDevice("RegisteredBuffer names what uses a registration that was disposed", async (gpu) => {
  using ones = gpu.alloc("float32", 16).fill(1);
  const array = new Float32Array(16);
  const former = gpu.register(array);
  {
    using graph = gpu.capture(() => void former.copyFrom(ones));
    former.dispose();
    assertThrows(() => gpu.register(array), CudaError, "a transfer or a graph still uses");
    graph.launch();
  }
  using again = gpu.register(array);
  await gpu.synchronize();
  assertEquals([...again.array], [...new Float32Array(16).fill(1)]);
});

testOnDevice("RegisteredBuffer names the array that was transferred away", (gpu) => {
  const source = new ArrayBuffer(3 * PAGE_BYTES);
  using registered = gpu.register(source, { label: "x" });
  const moved = source.transfer();
  assertThrows(() => registered.fill(1), DisposedError, "whose array was moved away");
  assertEquals(moved.byteLength, 3 * PAGE_BYTES);
});

testOnDevice("RegisteredBuffer.readOnly refuses every write by the GPU", async (gpu) => {
  const bytes = ownPages(64);
  bytes.set(patternBytes(64));
  using registered = gpu.register(bytes, { readOnly: true, label: "input" });
  assert(registered.isReadOnly);
  using device = gpu.alloc("uint8", 64);
  device.copyFrom(registered);
  assertEquals(device.downloadSync(), patternBytes(64));
  assertThrows(() => registered.fill(1), TypeError, "input on the GPU: it is read-only memory");
  assertThrows(() => registered.copyFrom(device), TypeError, "read-only");
  assertThrows(() => registered.uploadSync(new Uint8Array(64)), TypeError, "read-only");
  assertEquals(await registered.download(), patternBytes(64));
});

testOnDevice("RegisteredBuffer.readOnly refuses set(), also of a view", (gpu) => {
  const bytes = ownPages(64);
  using registered = gpu.register(bytes, { readOnly: true, label: "input" });
  for (const part of [registered, registered.subarray(8), registered.as("int8")]) {
    assertThrows(
      () => part.set([1]),
      TypeError,
      `set elements of ${part}: it is read-only memory`,
    );
  }
  assertEquals(bytes, new Uint8Array(64));
});

Deno.test("RegisteredBuffer.readOnly tells the driver where that is supported", async () => {
  for (const supported of [0, 1]) {
    const flags: number[] = [];
    await withDevice((gpu) => {
      using _registered = gpu.register(ownPages(64), { readOnly: true });
    }, { driver: noteFlags(flags, supported) });
    const { PORTABLE, DEVICEMAP, READ_ONLY } = CU_MEMHOSTREGISTER;
    assertEquals(flags, [PORTABLE | DEVICEMAP | (supported === 1 ? READ_ONLY : 0)]);
  }
});

Deno.test("RegisteredBuffer registers whole pages where the driver wants them", async () => {
  const ranges: [bigint, bigint][] = [];
  const api = testDriver();
  const driver: DriverApi = {
    ...api,
    cuMemHostRegister_v2(address, byteLength, flags) {
      if (address % 4096n !== 0n) return CUresult.CUDA_ERROR_INVALID_VALUE;
      ranges.push([address, byteLength]);
      return api.cuMemHostRegister_v2(address, byteLength, flags);
    },
  };
  await withDevice((gpu) => {
    const bytes = ownPages(64);
    bytes.set(patternBytes(64));
    using registered = gpu.register(bytes);
    assertEquals(registered.downloadSync(), patternBytes(64));
    const [[address, byteLength] = [0n, 0n]] = ranges;
    assert(address <= registered.ptr && registered.ptr + 64n <= address + byteLength);
    assertEquals(byteLength % 4096n, 0n);
  }, { driver });
});

Deno.test("registerBuffer() says what to use where it is not supported", () => {
  const { CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED: attribute } = CUdevice_attribute;
  return withDevice((gpu) => {
    assertThrows(() => gpu.register(ownPages(64)), CudaUnavailableError, "a pinned buffer");
  }, { driver: withAttribute(testDriver(), attribute, 0) });
});

testHolding("RegisteredBuffer.dispose() unregisters after the copies that are queued", () => {
  const { driver, calls } = watchedDriver();
  return withDevice((gpu) => {
    using stream = gpu.createStream();
    const bytes = ownPages(64);
    bytes.set(patternBytes(64));
    using device = gpu.alloc("uint8", 64, { stream });
    const registered = gpu.register(bytes);
    {
      using _held = new HeldStream(gpu, stream);
      device.copyFrom(registered, { stream });
      registered.dispose();
      assertFalse(calls.includes("cuMemHostUnregister"));
    }
    assertEquals(device.downloadSync(), patternBytes(64));
    gpu.context.sweep();
    assert(calls.includes("cuMemHostUnregister"));
  }, { driver });
});

function noteFlags(flags: number[], supported: number): DriverApi {
  const { CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED: attribute } = CUdevice_attribute;
  const api = withAttribute(testDriver(), attribute, supported);
  return {
    ...api,
    cuMemHostRegister_v2(address, byteLength, given) {
      flags.push(given);
      // A real driver that lacks the flag would refuse it.
      const { READ_ONLY } = CU_MEMHOSTREGISTER;
      return api.cuMemHostRegister_v2(address, byteLength, ON_GPU ? given & ~READ_ONLY : given);
    },
  };
}

function withAttribute(api: DriverApi, wanted: number, value: number): DriverApi {
  return {
    ...api,
    cuDeviceGetAttribute(cell, attribute, device) {
      if (attribute !== wanted) return api.cuDeviceGetAttribute(cell, attribute, device);
      if (cell instanceof Int32Array) cell[0] = value;
      return CUresult.CUDA_SUCCESS;
    },
  };
}

/** More than a transfer moves in its call. */
const LARGE_COUNT = 6 * 2 ** 20;

testOnDevice("RegisteredBuffer comes after transfers of its array under way", async (gpu) => {
  const array = new Float32Array(LARGE_COUNT).fill(7);
  using ones = gpu.alloc("float32", LARGE_COUNT).fill(1);
  using target = gpu.alloc("float32", LARGE_COUNT);
  const uploading = target.upload(array);
  using registered = gpu.register(array);
  registered.fill(9);
  await uploading;
  assertHoldsOnly(await target.download(), 7);
  registered.dispose();
  gpu.synchronizeSync();
  const downloading = ones.download(array);
  using again = gpu.register(array);
  target.copyFrom(again);
  await downloading;
  assertHoldsOnly(await target.download(), 1);
});

testOnDevice("RegisteredBuffer.dispose() in a download leaves the array in order", async (gpu) => {
  const array = new Float32Array(LARGE_COUNT).fill(7);
  using ones = gpu.alloc("float32", LARGE_COUNT).fill(1);
  using target = gpu.alloc("float32", LARGE_COUNT);
  const registered = gpu.register(array);
  const downloading = ones.download(array);
  registered.dispose();
  await target.upload(array);
  await downloading;
  assertHoldsOnly(await target.download(), 1);
});

testOnDevice("RegisteredBuffer keeps its order beside another part of its array", async (gpu) => {
  using stream = gpu.createStream();
  const whole = new Float32Array(2 * LARGE_COUNT).fill(7);
  const [first, second] = [whole.subarray(0, LARGE_COUNT), whole.subarray(LARGE_COUNT)];
  using ones = gpu.alloc("float32", LARGE_COUNT).fill(1);
  using target = gpu.alloc("float32", LARGE_COUNT);
  using registered = gpu.register(first);
  using _other = gpu.register(second);
  registered.copyFrom(ones, { stream });
  await target.upload(first);
  assertHoldsOnly(await target.download(), 1);
});

testHolding("RegisteredBuffer.dispose() leaves the array behind the GPU's writes", async (gpu) => {
  using stream = gpu.createStream();
  using ones = gpu.alloc("float32", LARGE_COUNT).fill(1);
  using target = gpu.alloc("float32", LARGE_COUNT);
  const array = new Float32Array(LARGE_COUNT).fill(7);
  const registered = gpu.register(array);
  using held = new HeldStream(gpu, stream);
  registered.copyFrom(ones, { stream });
  registered.dispose();
  const uploading = target.upload(array);
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((next) => void setImmediate(next));
  held.release();
  await uploading;
  assertHoldsOnly(await target.download(), 1);
});

for (const count of [16, LARGE_COUNT]) {
  Deno.test(`RegisteredBuffer.dispose() unlocks ${count} numbers once when they are used meanwhile`, async () => {
    const { driver, calls } = watchedDriver();
    await withDevice(async (gpu) => {
      using stream = gpu.createStream();
      using ones = gpu.alloc("float32", count).fill(1);
      using target = gpu.alloc("float32", count);
      const array = new Float32Array(count).fill(7);
      for (const upload of ["upload", "uploadSync"] as const) {
        const registered = gpu.register(array);
        registered.copyFrom(ones, { stream });
        registered.dispose();
        await target[upload](array);
        assertHoldsOnly(await target.download(), 1);
        await gpu.synchronize();
      }
    }, { driver });
    assertEquals(calls.filter((name) => name === "cuMemHostUnregister").length, 2);
  });
}

Deno.test("RegisteredBuffer.dispose() in a capture leaves its array to calls outside the graph", async () => {
  const { driver, calls } = watchedDriver();
  await withDevice(async (gpu) => {
    using recorded = gpu.createStream();
    using other = gpu.createStream();
    using target = gpu.alloc("float32", 16);
    using filled = gpu.alloc("float32", 16).fill(1);
    const array = new Float32Array(16).fill(7);
    const registered = gpu.register(array);
    await gpu.synchronize();
    using _graph = gpu.capture((stream) => {
      filled.fill(5, { stream });
      registered.dispose();
      target.uploadSync(array, { stream: other });
    }, { stream: recorded });
    assertHoldsOnly(await target.download(), 7);
  }, { driver });
  const ended = ["cuMemHostUnregister", "cuDevicePrimaryCtxRelease_v2"] as const;
  assertEquals(ended.map((name) => calls.filter((call) => call === name).length), [1, 1]);
});

for (const count of [16, LARGE_COUNT]) {
  Deno.test(`RegisteredBuffer of a part has ${count} numbers over its edge moved in order`, () =>
    withDevice(async (gpu) => {
      using stream = gpu.createStream();
      using ones = gpu.alloc("float32", count).fill(1);
      using target = gpu.alloc("float32", count);
      const whole = new Float32Array(2 * count);
      const across = whole.subarray(count / 2, count / 2 + count);
      using registered = gpu.register(whole.subarray(count));
      const uploads = [
        () => target.upload(across),
        () => Promise.resolve(target.uploadSync(across)),
        () => gpu.uploadAll([across], { into: [target] }),
      ];
      for (const upload of uploads) {
        whole.fill(7);
        registered.copyFrom(ones, { stream });
        await upload();
        const uploaded = await target.download();
        assertEquals([uploaded[0], uploaded[count / 2 - 1]], [7, 7]);
        assertEquals([uploaded[count / 2], uploaded[count - 1]], [1, 1]);
      }
      const downloads = [
        () => ones.download(across),
        () => Promise.resolve(ones.downloadSync(across)),
        () => gpu.downloadAll([ones], { into: [across] }),
      ];
      for (const download of downloads) {
        whole.fill(7);
        target.copyFrom(registered, { stream });
        await download();
        assertHoldsOnly(await target.download(), 7);
        assertHoldsOnly(across, 1);
      }
    }));
}

testOnDevice("RegisteredBuffer is known by every object that is its shared memory", async (gpu) => {
  using stream = gpu.createStream();
  using ones = gpu.alloc("float32", LARGE_COUNT).fill(1);
  using target = gpu.alloc("float32", LARGE_COUNT);
  const memory = new SharedArrayBuffer(4 * LARGE_COUNT);
  using registered = gpu.register(new Float32Array(memory));
  registered.copyFrom(ones, { stream });
  await target.upload(new Float32Array(structuredClone(memory))); // as a Worker posts it
  assertHoldsOnly(await target.download(), 1);
});
