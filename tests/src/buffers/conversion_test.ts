// astype(): every element type as every other, the same results on a GPU and on the simulated driver,
// compared with exact arithmetic on big numbers.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type CudaDevice, DTYPE_NAMES, type GpuBuffer } from "../../../mod.ts";
import { testOnTwoDevices } from "../../support/driver.ts";
import { bitsOf, bytesOf, patterns, reference } from "../../support/exact_conversion.ts";
import { Random, share } from "../../support/random.ts";
import { elementsOf } from "../../support/strided_elements.ts";
import { takingTurns } from "../../support/test_unless.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

Deno.test("GpuBuffer.astype() and options name the element type that is called otherwise elsewhere", () =>
  withDevice(async (gpu) => {
    using x = gpu.zeros("int8", 2);
    const convert = () => x.astype("<f4" as never);
    assertThrows(convert, TypeError, '"<f4" (did you mean "float32"?): expected "float16"');
    const upload = () => gpu.upload([1, 2], { dtype: "f32" as never });
    await assertRejects(upload, TypeError, 'option "dtype" is "f32" (did you mean "float32"?)');
    const zeros = () => gpu.zeros(Float64Array as never, 2);
    assertThrows(zeros, TypeError, 'Float64Array (did you mean "float64"?)');
  }));

for (const from of DTYPE_NAMES) {
  Deno.test(`GpuBuffer.astype() converts ${from} to every type as exact arithmetic does`, () =>
    withDevice(async (gpu) => {
      const random = new Random(11);
      const bits = patterns(from, random, share(400, { parts: 4 }));
      using x = await gpu.upload(bytesOf(from, bits), { dtype: from });
      for (const to of DTYPE_NAMES) {
        using y = x.astype(to);
        const found = bitsOf(to, await y.download(new ArrayBuffer(y.byteLength)));
        const expected = bits.map((value) => reference(from, to, value));
        const wrong = found.findIndex((value, index) => value !== expected[index]);
        const hex = (value: bigint | undefined) => value?.toString(16);
        assert(
          wrong < 0,
          `${from} ${hex(bits[wrong])} to ${to}: ${hex(found[wrong])}, not ${hex(expected[wrong])}`,
        );
      }
    }));
}

testOnDevice("GpuBuffer.astype() reads truth in any byte that is not 0", async (gpu) => {
  using x = await gpu.upload(Uint8Array.of(0, 1, 2, 255), { dtype: "bool" });
  using y = x.astype("float32");
  assertEquals(await y.download(), Float32Array.of(0, 1, 1, 1));
});

Deno.test("GpuBuffer.astype() takes buffers of any size, and writes nothing beside them", () =>
  withDevice(async (gpu) => {
    for (const length of [1, 2, 3, 4, 5, 255, 256, 257, 1025, 70_001]) {
      const values = Float32Array.from({ length: length + 2 }, (_, index) => index % 2000 - 1000);
      using x = await gpu.upload(values);
      using y = gpu.alloc("int16", length + 2).fill(77);
      const part = x.subarray(1, length + 1);
      const target = y.subarray(1, length + 1);
      assertEquals(part.astype("int16", { into: target }), target);
      const expected = Int16Array.from(values);
      expected[0] = expected[length + 1] = 77;
      assertEquals(await y.download(), expected, `${length} elements`);
    }
    using empty = gpu.alloc("float32", [0, 3]);
    using none = empty.astype("uint8");
    assertEquals([none.shape, none.dtype], [[0, 3], "uint8"]);
  }));

testOnDevice("StridedView.astype() converts views of any strides in their order", async (gpu) => {
  const random = new Random(5);
  const length = 720;
  const values = Float64Array.from({ length }, (_, index) => index * 1.25 - 200);
  using x = await gpu.upload(values);
  for (let round = 0; round < 60; round++) {
    const layout = randomLayout(random, length);
    const view = x.strided(layout);
    using y = view.astype("int32");
    const expected = elementsOf(layout).map((place) => values[place] ?? NaN);
    assertEquals(await y.download(), Int32Array.from(expected), `${view} from ${layout.offset}`);
    assertEquals(y.shape, layout.shape);
    using same = view.astype("float64");
    assertEquals(await same.download(), Float64Array.from(expected));
  }
});

Deno.test("StridedView.astype() takes more axes than its kernel, and disposes what it made", () =>
  withDevice(async (gpu) => {
    const shape = Array(10).fill(2);
    using x = gpu.iota("int32", shape);
    const view = x.transpose();
    using y = view.astype("float32");
    assertEquals(await y.download(), Float32Array.from(elementsOf(view)));
    assertEquals(gpu.live({ kind: "device" }).count, 2);
  }));

/** Any layout that stays inside `length` elements. */
function randomLayout(random: Random, length: number) {
  const shape = Array.from({ length: random.below(5) }, () => 1 + random.below(4));
  const strides = shape.map(() => random.below(13) - 6);
  let [lowest, highest] = [0, 0];
  for (const [axis, stride] of strides.entries()) {
    const distance = ((shape[axis] ?? 1) - 1) * stride;
    if (distance < 0) lowest += distance;
    else highest += distance;
  }
  return { shape, strides, offset: -lowest + random.below(length - (highest - lowest)) };
}

Deno.test("GpuBuffer.astype() gives a buffer of the same kind and shape, with its label", () =>
  withDevice(async (gpu) => {
    const values = Float32Array.of(1.5, -2.5, 3, 4);
    using device = await gpu.upload(values, { shape: [2, 2] });
    using pinned = await gpu.downloadPinned(device);
    using managed = gpu.managed("float32", [2, 2]).copyFrom(device);
    using lazy = gpu.lazy("float32", [2, 2]).copyFrom(device);
    using staged = gpu.staged("float32", [2, 2]).copyFrom(device);
    using mapped = gpu.mapped("float32", [2, 2]).copyFrom(device);
    using growable = gpu.growable("float32", { reserveSize: 1 }).resize(4);
    growable.copyFrom(device.reshape(4));
    using registered = gpu.register(values.slice());
    const kinds: readonly GpuBuffer<"float32">[] = [
      device,
      pinned,
      managed,
      lazy,
      staged,
      mapped,
      growable,
      registered,
    ];
    for (const x of kinds) {
      using y = x.astype("float64", { label: "wide" });
      assertEquals([y.constructor, y.label, y.shape], [x.constructor, "wide", x.shape], `${x}`);
      assertEquals(await y.download(), Float64Array.from(values), `${x}`);
    }
  }));

takingTurns(testOnDevice)(
  "GpuBuffer.astype() comes after calls not awaited, on any stream",
  async (gpu) => {
    const length = LATE_BYTES / 4;
    using stream = gpu.createStream();
    using x = gpu.zeros("float32", length);
    const upload = x.upload(new Float32Array(length).fill(2.5));
    requireUnderWay(gpu.stream);
    using y = x.astype("uint8", { stream });
    x.fill(9);
    using before = y.slice(0, 2);
    const late = y.upload(new Uint8Array(length).fill(5));
    using z = y.astype("int64");
    assertEquals([await before.at(1), await z.at(0)], [2, 5n]);
    await Promise.all([upload, late]);
    using w = x.astype("float16");
    assertEquals(await w.at(length - 1), 9);
  },
);

testOnDevice("GpuBuffer.astype() is recorded by a capture, into another buffer", async (gpu) => {
  using x = await gpu.upload(Float32Array.of(1.5, 2.5));
  using y = gpu.zeros("int32", 2);
  using graph = gpu.capture(() => void x.astype("int32", { into: y }));
  assertEquals(await y.download(), Int32Array.of(0, 0));
  await x.upload(Float32Array.of(-7.9, 8.9));
  graph.launch();
  assertEquals(await y.download(), Int32Array.of(-7, 8));
});

testOnDevice("GpuBuffer.astype() refuses what cannot be, and leaves nothing", (gpu) => {
  using x = gpu.zeros("float32", [2, 3]);
  using y = gpu.zeros("int32", [3, 2]);
  const before = gpu.live().count;
  const check = (body: () => unknown, Kind: new (...args: never[]) => Error, words: string) =>
    assertThrows(body, Kind, words);
  check(() => x.astype("float" as never), TypeError, "float32");
  check(() => x.astype("int32", { into: y }), RangeError, "shapes differ");
  check(() => x.astype("int64", { into: y as never }), TypeError, "element types differ");
  check(() => x.astype("int32", { into: new Int32Array(6) as never }), TypeError, '"into"');
  check(() => x.astype("int32", { to: y } as never), TypeError, '"to"');
  check(() => x.strided().astype("int32", null as never), TypeError, "astype");
  check(() => x.astype("int32", { into: x.as("int32") }), RangeError, "onto themselves");
  const [low, high] = [x.subarray(0, 3), x.subarray(3).as("int32")];
  assertEquals(low.astype("int32", { into: high }), high);
  const bytes = x.as("uint8");
  const wider = bytes.subarray(0, 16).as("float64");
  check(() => bytes.subarray(8, 10).astype("float64", { into: wider }), RangeError, "onto");
  check(() => bytes.subarray(0, 2).astype("float64", { into: wider }), RangeError, "onto");
  const narrower = bytes.subarray(0, 2);
  assertEquals(bytes.subarray(8).as("float64").astype("uint8", { into: narrower }), narrower);
  y.dispose();
  check(() => x.astype("int32", { into: y.reshape([2, 3]) }), Error, "it was disposed");
  using view = x.transpose();
  view.dispose();
  check(() => view.astype("int8"), Error, "it was disposed");
  assertEquals(gpu.live().count, before - 1);
});

testOnTwoDevices("GpuBuffer.astype() refuses memory of another device", (gpu, other) => {
  using x = gpu.zeros("float32", 4);
  using y = other.zeros("int32", 4);
  assertThrows(() => x.astype("int32", { into: y }), TypeError, "the other on 1; convert it on");
});

testOnDevice("GpuBuffer.astype() has the types that it is asked for", async (gpu: CudaDevice) => {
  using x = await gpu.upload([1, 2, 3]);
  using halves = x.astype("float16");
  const values: Float16Array = await halves.download();
  using pinned = gpu.pinned("uint8", 3);
  const same = x.astype("uint8", { into: pinned });
  await gpu.synchronize();
  assertEquals([...values, ...same.array], [1, 2, 3, 1, 2, 3]);
  await assertRejects(() => x.upload(values as never), TypeError);
});
