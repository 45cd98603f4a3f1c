// Arrays over page-locked memory that the GPU still writes: whatever takes them comes after that, also
// where the host reads the array and not the GPU.

import { assertEquals, assertThrows } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { withDevice } from "../../support/with_device.ts";

/** More than one call of the driver moves. */
const COUNT = 5 * 2 ** 20;

/** Numbers that a call took from the array. */
type Taken = ArrayLike<number>;

/** Takes an array in some way. */
type Take = (gpu: CudaDevice, array: Float32Array<ArrayBuffer>) => Promise<Taken>;

const TAKES: Readonly<Record<string, Take>> = {
  "upload()": async (gpu, array) => {
    using buffer = await gpu.upload(array);
    return await buffer.download();
  },
  "upload() as bfloat16": async (gpu, array) => {
    using buffer = gpu.alloc("bfloat16", array.length);
    await buffer.upload(array);
    return await buffer.download();
  },
  "uploadAll()": async (gpu, array) => {
    using buffers = await gpu.uploadAll([array, array.subarray(0, 5)]);
    const [, part] = [...buffers];
    return part === undefined ? [] : await part.download();
  },
  "uploadAll() as bfloat16": async (gpu, array) => {
    using buffer = gpu.alloc("bfloat16", array.length);
    await gpu.uploadAll([array], { into: [buffer] });
    return await buffer.download();
  },
  "upload() of columns": async (gpu, array) => {
    using gpus = CudaDevice.all({ driver: gpu.context.driver.api });
    using parts = await gpus.upload(array, { shape: [64, COUNT / 64], split: 1 });
    return await parts.download();
  },
  "writable": async (gpu, array) => {
    using buffer = gpu.alloc("float32", array.length);
    const writer = buffer.writable.getWriter();
    await writer.write(array);
    await writer.close();
    return await buffer.download();
  },
  "from()": async (gpu, array) => {
    const bytes = new Uint8Array(array.buffer);
    using buffer = await gpu.from(ReadableStream.from([bytes]), { dtype: "float32" });
    return await buffer.download();
  },
};

/** The values of an array, most of which follow others that are the same. */
function valuesIn(array: ArrayLike<number>): Set<number> {
  const values = new Set<number>();
  for (let at = 0; at < array.length; at++) {
    const value = array[at] as number;
    if (at === 0 || value !== array[at - 1]) values.add(value);
  }
  return values;
}

for (const [name, take] of Object.entries(TAKES)) {
  testHolding(`${name} takes page-locked memory behind what the GPU writes there`, async (gpu) => {
    using stream = gpu.createStream();
    using pinned = gpu.pinned("float32", COUNT);
    pinned.array.fill(7);
    using held = new HeldStream(gpu, stream);
    pinned.fill(12, { stream });
    const taking = take(gpu, pinned.array);
    for (let turn = 0; turn < 5; turn++) {
      await new Promise<void>((next) => void setImmediate(next));
    }
    held.release();
    const taken = await taking;
    assertEquals(valuesIn(taken), new Set([12]));
  });
}

Deno.test("uploadSync() as bfloat16 takes page-locked memory behind what the GPU writes there", () =>
  withDevice((gpu) => {
    using stream = gpu.createStream();
    using pinned = gpu.pinned("float32", 16);
    using buffer = gpu.alloc("bfloat16", 16);
    pinned.array.fill(7);
    pinned.fill(12, { stream });
    buffer.uploadSync(pinned.array);
    assertEquals(new Set(buffer.downloadSync()), new Set([12]));
  }));

/** Opens a device of each of two drivers. */
function openOnTwoDrivers(): [mine: CudaDevice, other: CudaDevice] {
  return [simulateDriver(), simulateDriver()].map((driver) => CudaDevice.open(0, { driver })) as [
    CudaDevice,
    CudaDevice,
  ];
}

for (const count of [16, COUNT]) {
  Deno.test(`${count} numbers of page-locked memory go to a device of another driver in order`, async () => {
    const [mine, other] = openOnTwoDrivers();
    using _mine = mine;
    using _other = other;
    using stream = mine.createStream();
    using pinned = mine.pinned("float32", count);
    using buffer = other.alloc("float32", count);
    pinned.array.fill(7);
    pinned.fill(12, { stream });
    await buffer.upload(pinned.array);
    assertEquals(valuesIn(await buffer.download()), new Set([12]));
    buffer.fill(13);
    const downloading = buffer.download(pinned.array);
    using copy = mine.alloc("float32", count);
    copy.copyFrom(pinned, { stream });
    await downloading;
    assertEquals(valuesIn(await copy.download()), new Set([13]));
  });
}

Deno.test("CudaStream.wait() refuses what belongs to another driver", () => {
  const [mine, other] = openOnTwoDrivers();
  using _mine = mine;
  using _other = other;
  using event = other.stream.record();
  for (const target of [event, other.stream]) {
    assertThrows(() => mine.stream.wait(target), TypeError, "they belong to two drivers");
  }
});
