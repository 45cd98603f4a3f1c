// Strided views: transposed, stepped and padded layouts, copied to contiguous buffers and back.

import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { DisposedError } from "../../../src/words/errors.ts";
import { openTestDevice } from "../../support/driver.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { CaughtWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const SIX = new Float32Array([1, 2, 3, 4, 5, 6]);

testOnDevice("GpuBuffer.transpose() exchanges the axes of a matrix", async (gpu) => {
  using matrix = await gpu.upload(SIX, { shape: [2, 3] });
  using turned = matrix.transpose().contiguous();
  assertEquals(turned.shape, [3, 2]);
  assertEquals([...await turned.download()], [1, 4, 2, 5, 3, 6]);
});

testOnDevice("GpuBuffer.transpose() orders three axes as told", async (gpu) => {
  const values = Int32Array.from({ length: 24 }, (_, index) => index);
  using box = await gpu.upload(values, { shape: [2, 3, 4] });
  using turned = box.transpose([2, 0, 1]).contiguous();
  const expected = Array.from({ length: 24 }, (_, index) => {
    const [i, j, k] = [Math.floor(index / 6), Math.floor(index / 3) % 2, index % 3];
    return j * 12 + k * 4 + i;
  });
  assertEquals(turned.shape, [4, 2, 3]);
  assertEquals([...await turned.download()], expected);
});

testOnDevice("StridedView.copyFrom() scatters a contiguous buffer into the layout", async (gpu) => {
  using matrix = gpu.zeros("float32", [2, 3]);
  using turned = await gpu.upload(new Float32Array([1, 4, 2, 5, 3, 6]), { shape: [3, 2] });
  matrix.transpose().copyFrom(turned);
  assertEquals(await matrix.download(), SIX);
});

testOnDevice("StridedView.range() takes every second element", async (gpu) => {
  using line = await gpu.upload(SIX);
  using odd = line.strided().range(0, { start: 1, step: 2 }).contiguous();
  assertEquals([...await odd.download()], [2, 4, 6]);
});

testOnDevice("StridedView.range() walks backwards by a negative step", async (gpu) => {
  using line = await gpu.upload(SIX);
  using reversed = line.strided().range(0, { step: -2 }).contiguous();
  assertEquals([...await reversed.download()], [6, 4, 2]);
});

testOnDevice("StridedView.range() takes nothing from an empty range", async (gpu) => {
  using line = await gpu.upload(SIX);
  using none = line.strided().range(0, { start: 4, end: 2 }).contiguous();
  assertEquals(none.shape, [0]);
  assertEquals((await none.download()).length, 0);
});

Deno.test("StridedView.range() takes nothing behind the last element of a stepped view", () =>
  withDevice(async (gpu) => {
    using numbers = await gpu.upload(SIX);
    using odd = numbers.strided({ shape: [3], strides: [2], offset: 1 });
    for (const range of [{ start: 3 }, { start: 9, end: 9 }, { start: 3, step: 2 }, { end: 0 }]) {
      assertEquals((await odd.range(0, range).download()).length, 0);
    }
    using backwards = odd.range(0, { step: -1 });
    assertEquals((await backwards.range(0, { start: 3, step: -1 }).download()).length, 0);
  }));

testOnDevice("GpuBuffer.strided() rejects values that are not layouts", (gpu) => {
  using a = gpu.zeros("float32", 6);
  for (const layout of [{ strides: "1" }, { strides: null }, { offset: "1" }]) {
    assertThrows(() => a.strided(layout as never), TypeError, "Cannot call strided(): option");
  }
  for (const wrong of [0.5, NaN, 1n, "1", Symbol("step")]) {
    const layout = { shape: [2], strides: [wrong] };
    assertThrows(() => a.strided(layout as never), RangeError, "expected whole numbers");
  }
  assertThrows(
    () => a.strided({ shape: [2, 3], strides: [1] }),
    RangeError,
    "by strides [1]: expected 2, one for each axis",
  );
});

testOnDevice("GpuBuffer.transpose() of axes one by one says that it takes a list", (gpu) => {
  using box = gpu.zeros("int8", [2, 3, 4]);
  const words = "Cannot order axes by the number 2: expected a list of all, such as [2, 1, 0]";
  assertThrows(() => box.transpose(2 as never), TypeError, words);
  assertThrows(() => box.transpose().transpose(2 as never), TypeError, words);
});

testOnDevice("StridedView.view() shows one column of a transposed matrix", async (gpu) => {
  using matrix = await gpu.upload(SIX, { shape: [2, 3] });
  using column = matrix.transpose().view(-1).contiguous();
  assertEquals([...await column.download()], [3, 6]);
});

testOnDevice("GpuBuffer.strided() shows rows that are padded to a pitch", async (gpu) => {
  using padded = await gpu.upload(Uint16Array.from({ length: 12 }, (_, index) => index));
  using rows = padded.strided({ shape: [3, 2], strides: [4, 1], offset: 1 }).contiguous();
  assertEquals([...await rows.download()], [1, 2, 5, 6, 9, 10]);
});

testOnDevice("GpuBuffer.strided() shows boxes of padded rows", async (gpu) => {
  using padded = await gpu.upload(Uint8Array.from({ length: 48 }, (_, index) => index));
  const layout = { shape: [2, 2, 3], strides: [24, 8, 1], offset: 2 };
  using box = padded.strided(layout).contiguous();
  const expected = [2, 3, 4, 10, 11, 12, 26, 27, 28, 34, 35, 36];
  assertEquals([...await box.download()], expected);
});

testOnDevice("GpuBuffer.strided() repeats elements by a stride of 0", async (gpu) => {
  using line = await gpu.upload(SIX);
  using repeated = line.strided({ shape: [2, 3], strides: [0, 1] }).contiguous();
  assertEquals([...await repeated.download()], [1, 2, 3, 1, 2, 3]);
});

testOnDevice("GpuBuffer.copyFrom() takes a strided view", async (gpu) => {
  using matrix = await gpu.upload(SIX, { shape: [2, 3] });
  using pinned = gpu.pinned("float32", [3, 2]);
  pinned.copyFrom(matrix.transpose());
  await gpu.synchronize();
  assertEquals([...pinned.array], [1, 4, 2, 5, 3, 6]);
});

testOnDevice("StridedView.copyFrom() moves elements between parts that interleave", async (gpu) => {
  using line = await gpu.upload(SIX);
  const even = line.strided().range(0, { step: 2 });
  line.strided().range(0, { start: 1, step: 2 }).copyFrom(even);
  assertEquals([...await line.download()], [1, 1, 3, 3, 5, 5]);
});

testOnDevice("StridedView.download() and upload() move elements in its order", async (gpu) => {
  using matrix = await gpu.upload(SIX, { shape: [2, 3] });
  const turned = matrix.transpose();
  assertEquals([...await turned.download()], [1, 4, 2, 5, 3, 6]);
  await turned.upload(new Float32Array([6, 5, 4, 3, 2, 1]));
  assertEquals([...await matrix.download()], [6, 4, 2, 5, 3, 1]);
  await assertRejects(() => turned.upload(new Float32Array(5)), RangeError, "20 bytes");
});

Deno.test("StridedView moves its elements while the program blocks, behind calls before it", () =>
  withDevice(async (gpu) => {
    using matrix = gpu.zeros("float32", [3, 70_000]);
    const turned = matrix.transpose();
    const values = Float32Array.from({ length: matrix.length }, (_, index) => index);
    const inOrder = (at: number) => values[at % 3 * 70_000 + Math.floor(at / 3)];
    using large = gpu.alloc("uint8", LATE_BYTES);
    const before = large.upload(new Uint8Array(LATE_BYTES));
    large.subarray(0, 8).fill(1); // the stream's next calls come after this one
    const uploading = matrix.upload(values);
    requireUnderWay(gpu.stream);
    assertEquals(turned.downloadSync(), values.map((_, at) => inOrder(at) ?? 0));
    turned.uploadSync(values);
    const array = new Float32Array(matrix.length);
    using stream = gpu.createStream();
    assertStrictEquals(turned.downloadSync(array, { stream }), array);
    assertEquals(array, values);
    await Promise.all([before, uploading]);
    assertEquals(turned.downloadSync(), values);
    const name = "StridedView(float32[70000, 3] by [1, 70000])";
    const few = new Float32Array(5);
    assertThrows(() => turned.uploadSync(few), RangeError, `Cannot upload to ${name}`);
    assertThrows(() => turned.downloadSync(few), RangeError, `Cannot download from ${name}`);
    assertThrows(() => turned.downloadSync(few, { signal: 1 } as never), TypeError, "signal");
    turned.dispose();
    assertThrows(() => turned.downloadSync(), DisposedError);
    assertThrows(() => turned.uploadSync(values), DisposedError);
    assertEquals(gpu.live().objects.length, 3);
  }));

Deno.test("StridedView.download() fills an array of the program's, with the options after it", () =>
  withDevice(async (gpu) => {
    using matrix = await gpu.upload(SIX, { shape: [2, 3] });
    using stream = gpu.createStream();
    const turned = matrix.transpose();
    const array = new Float32Array(6);
    const steps: number[] = [];
    const options = { stream, onProgress: (done: number) => void steps.push(done) };
    assertStrictEquals(await turned.download(array, options), array);
    assertEquals([[...array], steps], [[1, 4, 2, 5, 3, 6], [24]]);
    assertEquals([...await turned.download(undefined, options)], [1, 4, 2, 5, 3, 6]);
    const name = "StridedView(float32[3, 2] by [1, 3])";
    const short = () => turned.download(new Float32Array(5));
    await assertRejects(short, RangeError, `Cannot download from ${name}: the array has 20 bytes`);
    const wrong = () => turned.download(new Int32Array(6) as never);
    await assertRejects(wrong, TypeError, `Cannot download from ${name}`);
    const signal = AbortSignal.abort(new Error("enough"));
    await assertRejects(() => turned.download(array, { signal }), Error, "enough");
  }));

testOnDevice("StridedView.download() widens half floats into numbers", async (gpu) => {
  using halves = await gpu.upload([1, 2, 3, 4], { dtype: "bfloat16" });
  const array = new Float32Array(2);
  await halves.strided().range(0, { start: 1, step: 2 }).download(array);
  assertEquals([...array], [2, 4]);
});

testOnDevice("StridedView.fill() sets a rectangle and nothing beside it", async (gpu) => {
  using matrix = gpu.zeros("int16", [3, 4]);
  matrix.strided().range(0, { start: 1 }).range(1, { start: 1, end: 3 }).fill(7);
  assertEquals([...await matrix.download()], [0, 0, 0, 0, 0, 7, 7, 0, 0, 7, 7, 0]);
});

Deno.test("StridedView.fill() sets every second element of a box, and nothing between them", () =>
  withDevice(async (gpu) => {
    using box = gpu.zeros("uint8", [4, 6, 8]);
    const view = box.strided().range(0, { start: 1, step: 2 }).range(1, { start: 2, step: 3 })
      .range(2, { start: 1, end: 7, step: 2 });
    view.fill(9);
    const expected = Array.from({ length: 4 * 6 * 8 }, (_, index) => {
      const [i, j, k] = [Math.floor(index / 48), Math.floor(index / 8) % 6, index % 8];
      return i % 2 === 1 && j % 3 === 2 && k % 2 === 1 && k < 7 ? 9 : 0;
    });
    assertEquals([...await box.download()], expected);
  }));

Deno.test("StridedView.clear() sets elements of every type to zero, and nothing beside them", () =>
  withDevice(async (gpu) => {
    using longs = gpu.zeros("int64", [2, 2]).fill(5n);
    const column = longs.transpose().view(1);
    assertEquals(column.clear(), column);
    assertEquals(await longs.download(), BigInt64Array.of(5n, 0n, 5n, 0n));
    using image = gpu.pitched("bool", [2, 3]).fill(true);
    assertEquals(await image.clear().download(), new Uint8Array(6));
    using gone = gpu.pitched("uint8", [2, 3], { label: "gone" });
    gone.dispose();
    assertThrows(() => gone.clear(), DisposedError, "gone");
  }));

testOnDevice("StridedView.fill() sets elements of 8 bytes", async (gpu) => {
  using matrix = gpu.zeros("float64", [2, 3]);
  matrix.transpose().view(1).fill(-1.5);
  assertEquals([...await matrix.download()], [0, -1.5, 0, 0, -1.5, 0]);
});

testOnDevice("StridedView.dispose() lets go of the view alone", async (gpu) => {
  using matrix = await gpu.upload(SIX, { shape: [2, 3] });
  const view = matrix.transpose();
  view.dispose();
  assertThrows(() => view.contiguous(), DisposedError, "StridedView(float32[3, 2] by [1, 3])");
  assertEquals(await matrix.download(), SIX);
});

testOnDevice("StridedView says that its buffer was disposed", (gpu) => {
  const matrix = gpu.zeros("float32", [2, 3]);
  const view = matrix.transpose();
  matrix.dispose();
  assertEquals(view.disposed, true);
  assertThrows(() => view.fill(1), DisposedError, "DeviceBuffer");
  assertThrows(() => view.contiguous(), DisposedError, "DeviceBuffer");
});

testOnDevice("StridedView has an id of its own and shares the block's", (gpu) => {
  using matrix = gpu.zeros("float32", [2, 3]);
  const view = matrix.transpose();
  assertEquals(new Set([matrix.id, view.id, view.transpose().id]).size, 3);
  assertEquals(view.storageId, matrix.storageId);
});

testOnDevice("StridedView.isContiguous tells whether the strides leave gaps", (gpu) => {
  using matrix = gpu.zeros("float32", [2, 3]);
  assertEquals(matrix.strided().isContiguous, true);
  assertEquals(matrix.transpose().isContiguous, false);
  assertEquals(matrix.transpose().transpose().isContiguous, true);
});

testOnDevice("GpuBuffer.strided() refuses a layout that leaves the buffer", (gpu) => {
  using line = gpu.zeros("float32", 6);
  const refuse = (layout: Parameters<typeof line.strided>[0], message: string) =>
    assertThrows(() => line.strided(layout), RangeError, message);
  refuse({ shape: [2, 3], strides: [4, 1] }, "it reaches elements 0 to 6 of 6");
  refuse({ shape: [2], strides: [-1] }, "it reaches elements -1 to 0 of 6");
  refuse({ shape: [2], strides: [1, 1] }, "by strides [1, 1]: expected 1, one for each axis");
  refuse({ shape: [2], strides: [0.5] }, "expected whole numbers");
  refuse({ offset: 1 }, "it reaches elements 1 to 6 of 6");
});

testOnDevice("Several indices or sizes are refused with the calls that were meant", async (gpu) => {
  using x = await gpu.upload(SIX, { shape: [2, 3], label: "x" });
  const loose = x as unknown as Record<"view" | "at" | "reshape", (...all: unknown[]) => unknown>;
  const turned = x.transpose() as unknown as typeof loose;
  const byAxes = "view(1).view(2) goes by axes";
  for (const call of [() => loose.view(1, 2), () => loose.view([1, 2])]) {
    assertThrows(call, TypeError, `${byAxes}, reshape([1, 2]) changes the shape`);
  }
  assertThrows(() => turned.view(1, 2), TypeError, byAxes);
  const sizes =
    "Cannot call reshape(3, 2) on DeviceBuffer(x, float32[2, 3]): it takes one list of " +
    "sizes, such as reshape([3, 2])";
  assertThrows(() => loose.reshape(3, 2), TypeError, sizes);
  for (const call of [() => x.at(1, 2 as never), () => x.at([1, 2] as never)]) {
    await assertRejects(
      call,
      TypeError,
      "an index of the flat buffer; view(1).at(2) goes by axes",
    );
  }
  await assertRejects(() => x.setAt([1, 2] as never, 0), TypeError, "element [1, 2] of Device");
});

testOnDevice("GpuBuffer.reshape() works out one size and says so of several", (gpu) => {
  using x = gpu.zeros("float32", 6);
  assertEquals(x.reshape([-1, 3]).shape, [2, 3]);
  assertThrows(
    () => x.reshape([-1, -1]),
    RangeError,
    "float32[6]) to [-1, -1]: only one size can be -1",
  );
});

testOnDevice("Errors about indices name those that there are", async (gpu) => {
  using matrix = await gpu.upload(SIX, { shape: [2, 3] });
  using none = gpu.zeros("float32", [0, 3]);
  assertThrows(() => matrix.view(-3), RangeError, "expected a whole number from -2 to 1");
  assertThrows(() => matrix.transpose().view(3), RangeError, "from -3 to 2");
  await assertRejects(() => matrix.at(6), RangeError, "from -6 to 5");
  assertThrows(() => none.view(0), RangeError, "Cannot view row 0 of DeviceBuffer");
  assertThrows(() => none.view(0), RangeError, "there is none");
});

testOnDevice("StridedView.upload() ends when its stream is disposed meanwhile", async (gpu) => {
  using matrix = gpu.zeros("float32", [2, 3]);
  const stream = gpu.createStream();
  const uploaded = matrix.transpose().upload(new Float32Array([1, 4, 2, 5, 3, 6]), { stream });
  stream.dispose();
  await uploaded;
  assertEquals(await matrix.download(), SIX);
});

Deno.test("StridedView.upload() ends when its device is disposed meanwhile, and then lets it go", async () => {
  using warnings = new CaughtWarnings();
  using gpu = openTestDevice();
  const { context } = gpu;
  const x = gpu.zeros("float32", [4, 6]);
  const upload = x.transpose().upload(new Float32Array(24));
  gpu.synchronizeSync(); // the elements are there, and the promise is still to resolve
  gpu.disposeAll();
  gpu.dispose();
  await upload;
  assert(context.released);
  assertEquals(warnings.texts, []);
});

testOnDevice("GpuBuffer.strided() keeps strides of its own", async (gpu) => {
  using line = await gpu.upload(SIX);
  const strides = [2];
  const view = line.strided({ shape: [3], strides });
  strides[0] = 2 ** 40;
  assertEquals(await view.download(), new Float32Array([1, 3, 5]));
});

testOnDevice("StridedView refuses an axis that is missing, and one that is repeated", (gpu) => {
  using matrix = gpu.zeros("float32", [2, 3]);
  assertThrows(() => matrix.transpose([0, 0]), RangeError, "each of 0 to 1 once");
  assertThrows(() => matrix.strided().range(2, {}), RangeError, "axis 2");
  assertThrows(() => matrix.strided().range(0, { step: 0 }), RangeError, "Cannot step by 0");
  const last = () => matrix.strided().range(-1, {});
  assertThrows(last, RangeError, "Cannot step along axis -1: expected 0 to 1");
  assertThrows(() => matrix.strided().view(2), RangeError, "from -2 to 1");
});

testOnDevice("StridedView transfers with an aborted signal allocate nothing", async (gpu) => {
  using matrix = gpu.zeros("float32", [2, 3]);
  using track = gpu.track("aborted");
  const turned = matrix.transpose();
  const signal = AbortSignal.abort(new Error("enough"));
  await assertRejects(() => turned.download(undefined, { signal }), Error, "enough");
  await assertRejects(() => turned.upload(SIX, { signal }), Error, "enough");
  assertEquals(track.totalBytes, 0);
});

testOnDevice("StridedView.contiguous() of no elements is an empty buffer", (gpu) => {
  using matrix = gpu.zeros("float32", [2, 3, 4]);
  using empty = matrix.strided().range(2, { start: 3, end: 1 }).contiguous();
  assertEquals([empty.shape, empty.byteLength], [[2, 3, 0], 0]);
});

testOnDevice("StridedView.copyFrom() refuses other shapes, types and shared elements", (gpu) => {
  using matrix = gpu.zeros("float32", [2, 3]);
  using other = gpu.zeros("float32", [2, 3]);
  assertThrows(() => matrix.transpose().copyFrom(other), RangeError, "shapes differ");
  const integers = other.as("int32") as unknown as typeof other;
  assertThrows(() => matrix.strided().copyFrom(integers), TypeError, "element types differ");
  const repeated = matrix.strided({ shape: [2, 3], strides: [0, 1] });
  assertThrows(() => repeated.copyFrom(other), TypeError, "its elements share memory");
  const halves = matrix.reshape(6);
  assertThrows(
    () => halves.strided({ shape: [4] }).copyFrom(halves.strided({ shape: [4], offset: 2 })),
    RangeError,
    "both show the same memory",
  );
  const array = SIX as unknown as typeof other;
  assertThrows(
    () => matrix.transpose().copyFrom(array),
    TypeError,
    "could move on before the GPU is done",
  );
});

testOnDevice(
  "views with strides read, write, compare, describe and fill their elements",
  async (gpu) => {
    using x = await gpu.upload(SIX, { shape: [2, 3] });
    const turned = x.transpose();
    const read = [0, 1, 2, 3, 4, 5, -1].map((index) => turned.at(index));
    assertEquals(await Promise.all(read), [1, 4, 2, 5, 3, 6, 6]);
    await assertRejects(() => turned.at(6), RangeError, "Cannot reach element 6 of StridedView");
    assertStrictEquals(await turned.setAt(1, 40), turned);
    assertEquals([...await x.download()], [1, 2, 3, 40, 5, 6]);
    using whole = turned.contiguous();
    assertEquals(
      [await turned.equals(whole), await whole.equals(turned), await turned.equals(turned)],
      [true, true, true],
    );
    assertEquals([await x.equals(turned), await turned.equals(x)], [false, false]);
    const { lowest, highest, length } = await turned.describe();
    assertEquals([lowest, highest, length], [1, 40, 6]);
    assert(Deno.inspect(await turned.showImage()).includes("float32[3, 2]"));
    turned.fillPattern(new Float32Array([7, 8]));
    assertEquals([...await x.download()], [7, 7, 7, 8, 8, 8]);
  },
);

testOnDevice("astype() converts into views with strides and padded rows", async (gpu) => {
  using x = await gpu.upload(SIX, { shape: [2, 3] });
  using rows = gpu.pitched("int16", [2, 3]);
  assertStrictEquals(x.astype("int16", { into: rows }), rows);
  assertEquals([...await rows.download()], [1, 2, 3, 4, 5, 6]);
  using y = gpu.zeros("int16", [3, 2]);
  x.astype("int16", { into: y.transpose() });
  assertEquals([...await y.download()], [1, 4, 2, 5, 3, 6]);
  x.transpose().astype("int16", { into: y });
  assertEquals([...await y.download()], [1, 4, 2, 5, 3, 6]);
  const into = y.transpose();
  assertThrows(() => x.astype("int8", { into: into as never }), TypeError, "element types differ");
  using longer = gpu.zeros("int16", [3, 3]);
  assertThrows(() => x.astype("int16", { into: longer.transpose() }), RangeError, "shapes differ");
});

testOnDevice("views of arrays without elements are taken as of others", (gpu) => {
  using x = gpu.zeros("float32", [0, 4]);
  using y = gpu.zeros("float32", [2, 0, 3]);
  assertEquals(x.strided().range(1, { start: 1, end: 3 }).shape, [0, 2]);
  assertEquals(y.strided().range(2, { start: 1, end: 3 }).shape, [2, 0, 2]);
  assertEquals(x.transpose().range(0, { start: 1 }).shape, [3, 0]);
  assertEquals(x.transpose().range(0, { start: -1, step: -1 }).shape, [1, 0]);
  assertEquals(x.transpose().view(2).shape, [0]);
  assertEquals(y.strided().view(1).range(1, { start: 2 }).shape, [0, 1]);
  assertThrows(() => x.transpose().view(4), RangeError, "expected a whole number from -4 to 3");
  assertThrows(() => x.strided({ shape: [0], strides: [1], offset: 1 }), RangeError, "of 0");
  assertEquals(x.reshape([-1, 4]).shape, [0, 4]);
  for (const shape of [[0, -1], [-1, 0]]) {
    assertThrows(() => x.reshape(shape), RangeError, "beside a size of 0, -1 can be any size");
  }
});
