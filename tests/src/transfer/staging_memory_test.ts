// Downloads into new arrays that land in page-locked memory first: the same bytes for every type and
// size, memory that can be trimmed, and programs that find none.

import {
  assert,
  assertEquals,
  assertGreater,
  assertGreaterOrEqual,
  assertLessOrEqual,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { CUresult } from "../../../ffi/constants.ts";
import { CudaDevice } from "../../../mod.ts";
import { DTYPE_NAMES, elementBytes, isSmallFloat } from "../../../src/dtype.ts";
import { simulateDriver } from "../../../src/entries/simulated.ts";
import { StagingMemory } from "../../../src/transfer/staging_memory.ts";
import { assertHoldsOnly } from "../../support/contents.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { captureWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

/** Makes so many downloads that the next ones land. */
function openStaging(gpu: CudaDevice): void {
  using x = gpu.zeros("uint8", 65_536);
  for (let round = 0; round < 20; round++) x.downloadSync();
}

/** Sizes around the limits, and sizes that fit nothing. */
const SIZES = [1000, 65_535, 65_536, 65_537, 200_001, 2 ** 20, 2 ** 21 + 8, 2 ** 22, 2 ** 22 + 8];

testOnDevice("new arrays are the same whichever way their bytes come", async (gpu) => {
  openStaging(gpu);
  for (const dtype of DTYPE_NAMES.filter((name) => !/^float[68]/.test(name))) {
    for (const byteLength of [136_008, 400_008]) {
      const bytes = new Uint8Array(byteLength).map((_, i) => dtype === "bool" ? i & 1 : i * 7);
      const length = byteLength / elementBytes(dtype);
      using x = gpu.alloc(dtype, length);
      await x.upload(bytes.buffer);
      const filled = await x.download(new Uint8Array(byteLength).buffer);
      const arrays = [];
      for (let round = 0; round < 6; round++) {
        arrays.push(round % 2 === 0 ? await x.download() : x.downloadSync());
      }
      for (const array of arrays) {
        assertEquals(array, arrays[0]);
        if (!isSmallFloat(dtype)) {
          assertEquals(new Uint8Array(array.buffer), new Uint8Array(filled));
        }
      }
      assertEquals(new Set(arrays.map(({ buffer }) => buffer)).size, arrays.length);
    }
  }
});

testOnDevice("a download of any size lands whole, and in its own array", async (gpu) => {
  const landing = StagingMemory.of(gpu.context);
  using x = gpu.alloc("uint8", Math.max(...SIZES));
  let landedRounds = 0;
  for (let round = 1; round <= 3; round++) {
    const arrays: Uint8Array[] = [];
    for (const size of SIZES) {
      using part = x.subarray(0, size);
      part.fill(round * 10);
      arrays.push(await part.download(), part.downloadSync());
      part.fill(99);
    }
    for (const array of arrays) assertHoldsOnly(array, round * 10);
    assert(landing.byteLength <= 2 ** 22);
    if (landing.byteLength >= 2 ** 21) landedRounds++;
    landing.trim();
    assertEquals(landing.byteLength, 0);
  }
  assertGreater(landedRounds, 0);
});

for (
  const [size, count, isLanding] of [
    [2 ** 22 + 1, 64, false],
    [2 ** 22, 20, true],
    [65_536, 20, true],
    [65_535, 320, true],
    [1, 320, true],
  ] as const
) {
  testOnDevice(
    `downloads of ${size} bytes land, once there were some: ${isLanding}`,
    async (gpu) => {
      const landing = StagingMemory.of(gpu.context);
      using x = gpu.zeros("uint8", size);
      gpu.synchronizeSync(); // what comes behind the GPU's work goes another way
      for (let round = 0; round < count; round++) await x.download();
      assertEquals(landing.byteLength, 0);
      x.downloadSync();
      assertEquals(landing.byteLength > 0, isLanding);
    },
  );
}

Deno.test("small downloads into arrays that are there land first, and change only the array", () =>
  withDevice(async (gpu) => {
    openStaging(gpu);
    using x = gpu.uploadSync(Uint8Array.from({ length: 2 ** 18 + 8 }, (_, at) => at * 7));
    const all = x.downloadSync();
    for (const size of [1, 3, 4096, 65_536, 2 ** 18 - 1, 2 ** 18, 2 ** 18 + 8]) {
      const array = new Uint8Array(size + 10).fill(99);
      using part = x.subarray(0, size);
      if (size % 2 === 0) await part.download(array.subarray(3, -7));
      else part.downloadSync(array.subarray(3, -7));
      assertEquals(array.subarray(3, -7), all.subarray(0, size));
      assert([...array.subarray(0, 3), ...array.subarray(-7)].every((byte) => byte === 99));
    }
    using bits = await gpu.upload(Float32Array.of(1.5, -2, 3), { dtype: "bfloat16" });
    assertEquals([...bits.downloadSync(new Float32Array(3))], [1.5, -2, 3]);
    const floats = new Float32Array(3);
    const seen: number[][] = [];
    await bits.download(floats, { onProgress: () => void seen.push([...floats]) });
    assertEquals(seen, [[1.5, -2, 3]]); // progress is told when the array has its values
  }));

Deno.test("a small download that fails leaves its array as it was", () => {
  const { driver, setFault } = faultyDriver(simulateDriver());
  using gpu = CudaDevice.open(0, { driver });
  openStaging(gpu);
  using x = gpu.uploadSync(new Uint8Array(1000).fill(1));
  const array = new Uint8Array(1000).fill(9);
  setFault({ name: "cuMemcpyDtoHAsync_v2" });
  assertThrows(() => x.downloadSync(array));
  setFault(undefined);
  assertHoldsOnly(array, 9);
  x.downloadSync(array);
  assertHoldsOnly(array, 1);
});

testOnDevice("downloads that are not awaited keep the order of calls", async (gpu) => {
  using x = gpu.alloc("uint8", 200_000);
  for (let round = 0; round < 10; round++) {
    x.fill(round);
    const first = x.download();
    x.fill(100 + round);
    const second = x.download();
    x.fill(0);
    const third = x.downloadSync();
    assertHoldsOnly(await first, round);
    assertHoldsOnly(await second, 100 + round);
    assertHoldsOnly(third, 0);
  }
});

Deno.test("the landing is listed among the caches of a report, and goes with the device", async () => {
  const driver = simulateDriver();
  const gpu = CudaDevice.open(0, { driver });
  {
    using x = gpu.zeros("uint8", 200_000);
    for (let round = 0; round < 24; round++) await x.download();
  }
  const cache = gpu.report().data.caches.find(({ name }) => name === "staging memory");
  assertEquals(cache?.byteLength, 2 ** 22);
  gpu.dispose();
});

Deno.test("where there is no page-locked memory downloads fill their arrays", async () => {
  const registering = faultyDriver(simulateDriver());
  const { driver, setFault } = faultyDriver(registering.driver);
  using gpu = CudaDevice.open(0, { driver });
  registering.setFault({ name: "cuMemHostRegister_v2", status: CUresult.CUDA_ERROR_OUT_OF_MEMORY });
  setFault({ name: "cuMemHostAlloc", status: CUresult.CUDA_ERROR_OUT_OF_MEMORY });
  using x = gpu.alloc("uint8", 200_000);
  x.fill(3);
  for (let round = 0; round < 20; round++) {
    assertHoldsOnly(await x.download(), 3);
  }
});

Deno.test("memory that is had in part and cannot be given back fails no download", () => {
  const releasing = faultyDriver(simulateDriver());
  const { driver, setFault } = faultyDriver(releasing.driver);
  using gpu = CudaDevice.open(0, { driver });
  openStaging(gpu);
  StagingMemory.of(gpu.context).trim();
  using x = gpu.uploadSync(new Uint8Array(1000).fill(1));
  setFault({ name: "cuEventCreate", after: 1 });
  releasing.setFault({ name: "cuMemHostUnregister" });
  const warnings = captureWarnings(() => assertEquals(x.downloadSync().indexOf(0), -1));
  assertEquals(warnings.length, 1);
  assertStringIncludes(warnings[0] ?? "", "the staging memory could not be given back");
});

Deno.test("where memory for lanes is refused downloads share less, and after a trim more", () => {
  const { driver, setFault } = faultyDriver(simulateDriver());
  using gpu = CudaDevice.open(0, { driver });
  openStaging(gpu);
  const staging = StagingMemory.of(gpu.context);
  staging.land(1000);
  const fewBytes = staging.byteLength;
  assertGreater(fewBytes, 0);
  setFault({ name: "cuEventCreate" });
  assertEquals(staging.take("download", 2 ** 20)?.bytes.byteLength, 2 ** 20);
  assertEquals(staging.take("download", 2 ** 23), undefined);
  setFault(undefined);
  assertEquals(staging.take("download", 2 ** 23), undefined); // not asked for again
  assertEquals(staging.byteLength, fewBytes);
  gpu.trim();
  assertEquals(staging.byteLength, 0);
  assertEquals(staging.take("download", 2 ** 23)?.bytes.byteLength, 2 ** 23);
  assertGreater(staging.byteLength, 2 ** 23);
});

Deno.test("StagingMemory.take() gives downloads one part after the other, and uploads the first", () =>
  withDevice((gpu) => {
    const staging = StagingMemory.of(gpu.context);
    const sizes = [2 ** 20, 1, 2 ** 22 + 5, 4097, 2 ** 23];
    let end = 0;
    let turnCount = 0;
    for (let round = 0; round < 40; round++) {
      const byteLength = sizes[round % sizes.length] ?? 0;
      const part = staging.take("download", byteLength);
      assert(part !== undefined);
      const { buffer, byteOffset } = part.bytes;
      assertEquals(part.bytes.byteLength, byteLength);
      assertLessOrEqual(byteOffset + byteLength, buffer.byteLength);
      const first = staging.take("upload", byteLength);
      assertEquals(first?.bytes.byteOffset, 0);
      assertEquals(part.address - (first?.address ?? 0n), BigInt(byteOffset));
      if (byteOffset === 0) turnCount++;
      else assertGreaterOrEqual(byteOffset, end);
      end = byteOffset + byteLength;
    }
    assertGreater(turnCount, 2);
    assertLessOrEqual(turnCount, 8);
    staging.trim();
  }));
