// Checks the front door: opening, bad input refused with nothing lost, and what is left at the end.

import {
  assert,
  assertEquals,
  assertFalse,
  assertGreaterOrEqual,
  assertInstanceOf,
  assertLess,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { CachingResourceAdaptor, CudaMemoryResource } from "../../../src/entries/memory.ts";
import { loadNpz, saveNpz } from "../../../src/entries/numpy.ts";
import { CudaError, DisposedError } from "../../../src/words/errors.ts";
import { assertHoldsOnly, assertSameBytes, patternBytes } from "../../support/contents.ts";
import { openTestDevice, testDriver, testOnTwoDevices } from "../../support/driver.ts";
import { faultyDriver, watchedDriver } from "../../support/faulty_driver.ts";
import { deviceAt } from "../../support/parts_scene.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { LATE_BYTES } from "../../support/under_way.ts";
import { freeBytes, liveNames, testOnDevice, withDevice } from "../../support/with_device.ts";

testOnDevice("CudaDevice.open() describes the device", (gpu) => {
  assertEquals([gpu.ordinal, gpu.name, gpu.disposed], [0, gpu.info.name, false]);
  assertEquals(String(gpu), `CudaDevice(0, ${gpu.name})`);
  assert(/^\d+\.\d+$/.test(gpu.info.computeCapability));
  assert(/^GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(gpu.info.uuid));
  assert(gpu.memory.totalBytes >= gpu.memory.freeBytes && gpu.memory.freeBytes > 0);
  assertStringIncludes(Deno.inspect(gpu), "free");
});

for (const ordinal of [-1, 0.5, NaN, 99]) {
  Deno.test(`CudaDevice.open() refuses device ${ordinal}, and the next call works`, () => {
    const driver = testDriver();
    assertThrows(() => CudaDevice.open(ordinal, { driver }), RangeError, `device ${ordinal}`);
    CudaDevice.open(0, { driver }).dispose();
  });
}

Deno.test("CudaDevice.open() leaves nothing when the device cannot be read", () => {
  const { driver, setFault } = faultyDriver();
  CudaDevice.count({ driver });
  setFault({ name: "cuDeviceGetName" });
  assertThrows(() => CudaDevice.open(0, { driver }), CudaError, "cuDeviceGetName");
  const cell = new BigUint64Array(1);
  driver.cuCtxGetCurrent(cell);
  assertEquals(cell[0], 0n);
  setFault(undefined);
  CudaDevice.open(0, { driver }).dispose();
});

Deno.test("CudaDevice.count() counts without opening", () => {
  const driver = simulateDriver({ devices: 3 });
  assertEquals(CudaDevice.count({ driver }), 3);
});

Deno.test("CudaDevice.dispose() twice lets go once", () => {
  const driver = testDriver();
  using first = CudaDevice.open(0, { driver });
  const second = CudaDevice.open(0, { driver });
  second.dispose();
  second.dispose();
  assertFalse(first.context.released);
  assertEquals(Deno.inspect(second), `${second} disposed`);
});

const USES: Record<string, (gpu: CudaDevice) => unknown> = {
  "context": (gpu) => gpu.context,
  "stream": (gpu) => gpu.stream,
  "memory": (gpu) => gpu.memory,
  "alloc()": (gpu) => gpu.alloc("uint8", 1),
  "zeros()": (gpu) => gpu.zeros("uint8", 1),
  "pinned()": (gpu) => gpu.pinned("uint8", 1),
  "upload()": (gpu) => gpu.upload(new Uint8Array(1)),
  "uploadSync()": (gpu) => gpu.uploadSync(new Uint8Array(1)),
  "createStream()": (gpu) => gpu.createStream(),
  "createEvent()": (gpu) => gpu.createEvent(),
  "synchronize()": (gpu) => {
    const done = gpu.synchronize(); // a promise, also when it cannot wait
    return done.catch((error) => Promise.reject(error));
  },
  "synchronizeSync()": (gpu) => gpu.synchronizeSync(),
  "live()": (gpu) => gpu.live(),
  "disposeAll()": (gpu) => gpu.disposeAll(),
  "trim()": (gpu) => gpu.trim(),
  "time()": (gpu) => gpu.time(() => {}),
  "bandwidth()": (gpu) => gpu.bandwidth({ sizes: [4096] }),
};

for (const [use, run] of Object.entries(USES)) {
  Deno.test(`CudaDevice.${use} names the device when it was disposed`, async () => {
    using keeper = openTestDevice(); // its name stays readable, and no context comes and goes
    const gpu = openTestDevice();
    gpu.dispose();
    await assertRejects(
      async () => await run(gpu),
      DisposedError,
      `Cannot use CudaDevice(0, ${keeper.name}): it was disposed`,
    );
  });
}

for (const size of [-1, -0.5, 0.5, NaN, Infinity, 2 ** 53, 2 ** 60]) {
  Deno.test(`CudaDevice refuses ${size} elements without a driver call`, () => {
    const { driver, calls } = watchedDriver();
    return withDevice((gpu) => {
      void gpu.stream.handle;
      calls.length = 0;
      assertThrows(() => gpu.alloc("float32", size), RangeError);
      assertThrows(() => gpu.alloc("float32", [4, size]), RangeError);
      assertThrows(() => gpu.zeros("uint8", size), RangeError);
      assertThrows(() => gpu.pinned("float64", size), RangeError);
      assertEquals(calls.filter((name) => name !== "cuCtxGetCurrent"), []);
      gpu.zeros("float32", 4).dispose();
    }, { driver });
  });
}

testOnDevice("CudaDevice.zeros() says that the type comes before the shape", (gpu) => {
  const swapped = "Cannot use the number 8 as an element type: it comes before the shape";
  assertThrows(() => gpu.zeros(8 as never, "float32" as never), TypeError, swapped);
});

testOnDevice("CudaDevice.upload() finds the type and the shape of an array", async (gpu) => {
  using buffer = await gpu.upload(new Int16Array([1, 2, 3]), { label: "x" });
  assertEquals(String(buffer), "DeviceBuffer(x, int16[3])");
  assertEquals([...await buffer.download()], [1, 2, 3]);
});

testOnDevice("CudaDevice.upload() takes a shape and a type of the same bits", async (gpu) => {
  using matrix = await gpu.upload(new Float32Array(6), { shape: [2, 3] });
  assertEquals([...matrix.shape], [2, 3]);
  using half = await gpu.upload(new Float32Array([1.5]), { dtype: "bfloat16" });
  assertEquals([half.byteLength, (await half.download())[0]], [2, 1.5]);
  using flags = gpu.uploadSync(new Uint8Array([1, 0]), { dtype: "bool" });
  assertEquals([...flags.downloadSync()], [1, 0]);
});

testOnDevice("CudaDevice.upload() of bad input leaves nothing", async (gpu) => {
  const array = new Float32Array(6);
  const gone = new Float32Array(6);
  gone.buffer.transfer();
  const resizable = new Float32Array(new ArrayBuffer(8, { maxByteLength: 16 }));
  await assertRejects(() => gpu.upload(array, { shape: [2, 2] }), RangeError);
  await assertRejects(() => gpu.upload(array, { shape: [2, -3] }), RangeError);
  await assertRejects(() => gpu.upload(array as never, { dtype: "int32" }), TypeError);
  await assertRejects(() => gpu.upload(gone, { shape: 6 }), Error);
  await assertRejects(() => gpu.upload(resizable), TypeError, "copy it by slice() first");
  await assertRejects(() => gpu.upload(null as unknown as Float32Array), TypeError);
  assertThrows(() => gpu.uploadSync(array, { shape: 7 }), RangeError);
  assertThrows(() => gpu.uploadSync(resizable), TypeError);
  const signal = AbortSignal.abort(new RangeError("stop"));
  await assertRejects(() => gpu.upload(array, { signal }), RangeError, "stop");
  assertThrows(() => gpu.uploadSync(array, { signal }), RangeError, "stop");
  const onProgress = () => {
    throw new RangeError("enough");
  };
  assertThrows(() => gpu.uploadSync(array, { onProgress }), RangeError, "enough");
  assertEquals(gpu.live().count, 0);
});

testOnDevice("CudaDevice.memory counts what is live, and the most that was", (gpu) => {
  const { peakBytes } = gpu.memory;
  const buffer = gpu.alloc("uint8", 1000);
  assertEquals(gpu.memory.liveBytes, 1000);
  buffer.dispose();
  assertEquals(gpu.memory.liveBytes, 0);
  assert(gpu.memory.peakBytes >= Math.max(peakBytes, 1000));
});

testOnDevice("CudaDevice.scope() disposes what it was given, also when it throws", async (gpu) => {
  const kept = gpu.scope((scope) => scope.use(gpu.zeros("uint8", 4)));
  assert(kept.disposed);
  await assertRejects(() =>
    gpu.scope(async (scope) => {
      const buffer = scope.use(await gpu.upload(new Uint8Array(4)));
      await buffer.download();
      throw new RangeError("inside");
    }), RangeError);
  assertEquals(gpu.live().count, 0);
});

testOnDevice("CudaDevice.trim() gives back what is kept, and nothing in use", async (gpu) => {
  using cache = new CachingResourceAdaptor(new CudaMemoryResource(gpu));
  using used = gpu.alloc("uint8", 2 ** 20, { resource: cache });
  used.fill(7);
  gpu.alloc("uint8", 8 * 2 ** 20, { resource: cache }).dispose();
  for (let round = 0; round < 24; round++) await used.download(); // they land in memory that is kept
  await gpu.synchronize();
  const keptBytes = () =>
    gpu.report().data.caches.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const before = keptBytes();
  assertGreaterOrEqual(before, 10 * 2 ** 20);
  assertEquals(gpu.trim(), before - keptBytes());
  assertLess(keptBytes(), 2 ** 21); // the rest of the block in use
  assertEquals(gpu.trim(), 0);
  assertHoldsOnly(await used.download(), 7);
});

testOnDevice("CudaDevice.trim() leaves transfers that are under way", async (gpu) => {
  using x = gpu.alloc("uint8", 2 * LATE_BYTES);
  const sent = patternBytes(x.byteLength);
  const uploading = x.upload(sent);
  gpu.trim();
  await uploading;
  const downloading = x.download();
  gpu.trim();
  assertSameBytes(await downloading, sent);
});

testOnDevice("CudaDevice.disposeAll() gives back all that is live, whoever holds it", (gpu) => {
  const buffer = gpu.alloc("uint8", 1000, { label: "a" });
  const pinned = gpu.pinned("uint8", 1000, { label: "b" });
  const stream = gpu.createStream({ label: "c" });
  const event = gpu.createEvent({ label: "d" });
  assertEquals(liveNames(gpu).toSorted(), ["a", "b", "c", "d"]);
  gpu.disposeAll();
  assertEquals(
    [buffer.disposed, pinned.disposed, stream.disposed, event.disposed],
    [true, true, true, true],
  );
  assertEquals(gpu.live().count, 0);
});

Deno.test("CudaDevice.disposeAll() is seen by what holds several buffers", async () => {
  using folder = new TemporaryFolder();
  using gpus = CudaDevice.openMany([0], { driver: testDriver() });
  const gpu = deviceAt(gpus, 0);
  const model = folder.pathOf("model.safetensors");
  const arrays = folder.pathOf("arrays.npz");
  using x = gpu.zeros("float32", 4);
  await gpu.saveSafetensors(model, { x });
  await saveNpz(arrays, { x });
  const holders = [
    await gpu.uploadAll([new Float32Array(4)]),
    await gpu.loadSafetensors(model),
    await loadNpz(arrays, gpu),
    await gpus.upload(new Float32Array(4)),
    await gpus.loadSafetensors(model),
  ];
  assertEquals(holders.map(({ disposed }) => disposed), holders.map(() => false));
  gpu.disposeAll();
  assertEquals(holders.map(({ disposed }) => disposed), holders.map(() => true));
});

testOnDevice("CudaDevice.time() tells GPU time and the bytes that were copied", async (gpu) => {
  using source = gpu.zeros("uint8", 2 ** 20);
  using target = gpu.alloc("uint8", 2 ** 20);
  const timing = await gpu.time(() => target.copyFrom(source));
  assertEquals(timing.copiedBytes, 2 ** 20);
  assert(timing.gpuSeconds > 0 && timing.hostSeconds > 0);
  const expected = 2 ** 20 / timing.gpuSeconds / 1e9;
  assert(Math.abs(timing.gigabytesPerSecond / expected - 1) < 1e-6);
});

testOnDevice("CudaDevice.time() leaves nothing when the work throws", async (gpu) => {
  const work = () => {
    throw new RangeError("inside");
  };
  const error = await assertRejects(() => gpu.time(work));
  assertInstanceOf(error, RangeError);
  assertEquals(gpu.live().count, 0);
});

testOnDevice("CudaDevice keeps its free memory over a thousand buffers", (gpu) => {
  const source = new Float32Array(1000).fill(1);
  gpu.uploadSync(source).dispose();
  const before = freeBytes(gpu);
  for (let round = 0; round < 1000; round++) {
    using buffer = gpu.uploadSync(source);
    buffer.downloadSync(source);
  }
  assertEquals(freeBytes(gpu), before);
});

testOnTwoDevices("CudaDevice keeps two devices apart in one program", async (first, second) => {
  using a = await first.upload(new Uint32Array([1, 2]));
  using b = await second.upload(new Uint32Array([3, 4]));
  assertEquals([a.deviceOrdinal, b.deviceOrdinal], [0, 1]);
  const [fromA, fromB] = await Promise.all([a.download(), b.download()]);
  assertEquals([[...fromA], [...fromB]], [[1, 2], [3, 4]]);
  assertEquals([first.live().count, second.live().count], [1, 1]);
});
