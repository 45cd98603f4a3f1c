// The sources of a device buffer: plain arrays, nested arrays, iterables, typed arrays, bytes.

import { runInNewContext } from "node:vm";
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describeValue } from "../../../src/words/format.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

testOnDevice("CudaDevice.upload() takes a plain array", async (gpu) => {
  using buffer = await gpu.upload([1, 2, 3], { dtype: "float32" });
  assertEquals(await buffer.download(), new Float32Array([1, 2, 3]));
});

testOnDevice("CudaDevice.upload() takes the shape from nested arrays", async (gpu) => {
  using buffer = await gpu.upload([[1, 2, 3], [4, 5, 6]], { dtype: "int16" });
  assertEquals(buffer.shape, [2, 3]);
  assertEquals([...await buffer.download()], [1, 2, 3, 4, 5, 6]);
});

testOnDevice("CudaDevice.upload() takes rows of any iterables, each walked once", async (gpu) => {
  function* pair(first: number) {
    yield* [first, first + 1];
  }
  const rows = [new Float64Array([1, 2]), new Set([3, 4]), pair(5)];
  using buffer = await gpu.upload(rows, { dtype: "float32" });
  assertEquals(buffer.shape, [3, 2]);
  assertEquals([...await buffer.download()], [1, 2, 3, 4, 5, 6]);
});

testOnDevice("CudaDevice.uploadSync() takes any iterable", (gpu) => {
  function* squares() {
    for (let root = 0n; root < 4n; root++) yield root * root;
  }
  using buffer = gpu.uploadSync(squares(), { dtype: "uint64", shape: [2, 2] });
  assertEquals([...buffer.downloadSync()], [0n, 1n, 4n, 9n]);
});

testOnDevice("CudaDevice.upload() takes truth values and numbers of bfloat16", async (gpu) => {
  using flags = await gpu.upload([true, false], { dtype: "bool" });
  using halves = await gpu.upload(new Set([0.5, -1]), { dtype: "bfloat16" });
  assertEquals([...await flags.download()], [1, 0]);
  assertEquals([...await halves.download()], [0.5, -1]);
});

testOnDevice("CudaDevice.upload() takes nothing from an empty array", async (gpu) => {
  using buffer = await gpu.upload([], { dtype: "float32" });
  assertEquals([buffer.length, buffer.ptr], [0, 0n]);
});

testOnDevice("CudaDevice.upload() refuses values that do not fit", async (gpu) => {
  const refuse = async (values: unknown, message: string) => {
    const source = values as number[];
    await assertRejects(() => gpu.upload(source, { dtype: "uint8" }), Error, message);
  };
  await refuse([256], "from 0 to 255");
  await refuse([1.5], "a whole number");
  await refuse(["1"], "expected a number");
  await refuse([1n], "expected a number");
  await refuse([[1, 2], [3]], "one has 1 value where the first has 2");
  await refuse([[1], 2], "some values are arrays");
  await refuse([1, , 3], "Cannot use undefined");
  await refuse([[1, , 3], [4, 5, 6]], "Cannot use undefined");
  await refuse([new ArrayBuffer(1)], "expected a number");
  await refuse("12", "an array or an iterable of numbers");
  await refuse(5, "an array or an iterable of numbers");
  await refuse(null, "an array or an iterable of numbers");
  await refuse(new Proxy(new Uint8Array(1), {}), "a Proxy of a typed array");
  const circle: unknown[] = [];
  circle.push(circle);
  await refuse(circle, "nested deeper than 64 axes, or one contains itself");
  const deep = Array(65).fill(0).reduce((inner) => [inner], 1);
  await refuse(deep, "nested deeper than 64 axes");
  using most = await gpu.upload(deep[0], { dtype: "uint8" });
  assertEquals(most.shape.length, 64);
  const proxy = new Proxy(new Uint8Array(1), {});
  await assertRejects(() => most.set(proxy), TypeError, "a Proxy of a typed array");
  most.dispose();
  assertEquals(gpu.live().count, 0);
});

Deno.test("CudaDevice.upload() takes plain numbers as float32, and loses none without a word", () =>
  withDevice(async (gpu) => {
    using x = await gpu.upload([[1, 2.5], [3, 2 ** 24]]);
    assertEquals([x.dtype, x.shape], ["float32", [2, 2]]);
    assertEquals(await x.download(), new Float32Array([1, 2.5, 3, 2 ** 24]));
    using set = gpu.uploadSync(new Set([0.1, 0.25]));
    assertEquals(set.downloadSync(), new Float32Array([0.1, 0.25]));
    using mixed = gpu.uploadSync([new Set([5, 6]), [7, 8]]);
    assertEquals(mixed.downloadSync(), new Float32Array([5, 6, 7, 8]));
    using _none = gpu.uploadSync([]);
    using large = gpu.uploadSync([6.02214076e23, -1e22, NaN, Infinity]);
    assertEquals(large.downloadSync(), new Float32Array([6.02214076e23, -1e22, NaN, Infinity]));
    for (const values of [[2 ** 24 + 1], [[1], [-(2 ** 53) + 1]], new Set([1e39]), [-1e300]]) {
      assertThrows(() => gpu.uploadSync(values), RangeError, "which plain numbers are");
      using exact = gpu.uploadSync(values, { dtype: "float64" });
      assertEquals(exact.dtype, "float64");
    }
    for (const values of [[1n], [true], ["1"], [1, 2n]]) {
      assertThrows(() => gpu.uploadSync(values as never), TypeError, "expected a number");
    }
    for (const [value, type] of [[true, '"bool"'], [1n, '"int64" or "uint64"']] as const) {
      const words = `as float32: expected a number, or the element type ${type}`;
      assertThrows(() => gpu.uploadSync([value] as never), TypeError, words);
    }
    for (const values of [new ArrayBuffer(4), new DataView(new ArrayBuffer(4))]) {
      const words = `Cannot upload ${describeValue(values)}: its bytes need an element type`;
      assertThrows(() => gpu.uploadSync(values as never), TypeError, words);
    }
    for (const source of [new Response("a"), new Blob(), new Blob().stream()]) {
      assertThrows(() => gpu.uploadSync(source as never), TypeError, "gpu.from() takes it");
    }
  }));

Deno.test("CudaDevice.upload() copies rows of the element type without walking their values", () =>
  withDevice(async (gpu) => {
    class Row extends Float32Array {
      override [Symbol.iterator](): never {
        throw new Error("walked");
      }
    }
    using x = await gpu.upload([Row.of(1, 2), Row.of(3, 4), new Float32Array([5, 6])]);
    assertEquals([x.dtype, x.shape], ["float32", [3, 2]]);
    assertEquals(await x.download(), Float32Array.of(1, 2, 3, 4, 5, 6));
    using longs = await gpu.upload([BigInt64Array.of(-1n), BigInt64Array.of(2n)], {
      dtype: "int64",
    });
    assertEquals(await longs.download(), BigInt64Array.of(-1n, 2n));
    using none = await gpu.upload([new Uint8ClampedArray(0)], { dtype: "uint8" });
    assertEquals(none.shape, [1, 0]);
    const uneven = () => gpu.upload([Row.of(1, 2), Row.of(3)]);
    await assertRejects(uneven, RangeError, "one has 1 value where the first has 2");
    assertEquals(gpu.live().count, 3);
  }));

testOnDevice("CudaDevice.upload() of rows that are no float32 asks for the element type", (gpu) => {
  const doubles = [Float64Array.of(0.1, 2), Float64Array.of(3, 1e300)];
  for (
    const [values, dtype] of [
      [doubles, "float64"],
      [[[1, 2], ...doubles], "float64"],
      [[[Int16Array.of(1)], [Float32Array.of(2)]], "int16"],
      [[new Uint8ClampedArray([300])], "uint8"],
    ] as const
  ) {
    const words = `Cannot upload rows of ${dtype} as float32, which lists are: pass { dtype: ` +
      `"${dtype}" }, or another`;
    assertThrows(() => gpu.uploadSync(values), TypeError, words);
  }
  using exact = gpu.uploadSync([[1, 2], ...doubles], { dtype: "float64" });
  assertEquals(exact.downloadSync(), Float64Array.of(1, 2, 0.1, 2, 3, 1e300));
  using floats = gpu.uploadSync([[1, 2], Float32Array.of(0.1, 4)]);
  assertEquals(floats.downloadSync(), Float32Array.of(1, 2, 0.1, 4));
  assertEquals(gpu.live().count, 2);
});

testOnDevice("CudaDevice.upload() of a buffer or a view says how it is copied", async (gpu) => {
  using x = gpu.zeros("float32", [2, 3], { label: "x" });
  for (const source of [x, x.view(1), x.transpose(), [x]]) {
    const words = source === x ? "slice() copies it, and copyFrom()" : "Cannot";
    await assertRejects(() => gpu.upload(source as never), TypeError, words);
  }
});

testOnDevice("CudaDevice.upload() refuses a shape of another size", async (gpu) => {
  await assertRejects(
    () => gpu.upload([1, 2, 3], { dtype: "int8", shape: [2, 2] }),
    RangeError,
    "Cannot upload 3 elements as [2, 2]: the shape has 4",
  );
});

for (
  const bytes of [
    new Float64Array([1.5, 2]).buffer,
    new DataView(new Float64Array([0, 1.5, 2]).buffer, 8),
    shared([1.5, 2]),
  ]
) {
  Deno.test(`CudaDevice.upload() takes the bytes of ${bytes.constructor.name} as they are`, () =>
    withDevice(async (gpu) => {
      using flat = await gpu.upload(bytes, { dtype: "float64" });
      using bits = gpu.uploadSync(bytes, { dtype: "uint16", shape: [2, 4] });
      assertEquals([...await flat.download()], [1.5, 2]);
      assertEquals(bits.as("float64").downloadSync(), await flat.download());
    }));
}

Deno.test("CudaDevice.upload() says how the bytes of an array are copied, also of a part of a buffer", () =>
  withDevice(async (gpu) => {
    const file = Uint8Array.of(9, 0, 0, 128, 63);
    const part = file.subarray(1);
    const refused = (bytes: Uint8Array, words: string) =>
      assertRejects(() => gpu.upload(bytes, { dtype: "float32" } as never), TypeError, words);
    await refused(part.slice(), "pass its buffer to copy the bytes");
    await refused(part, "pass new DataView(x.buffer, x.byteOffset, x.byteLength) to copy");
    const { buffer, byteOffset, byteLength } = part;
    using x = await gpu.upload(new DataView(buffer, byteOffset, byteLength), { dtype: "float32" });
    assertEquals(await x.download(), Float32Array.of(1));
  }));

testOnDevice("CudaDevice.upload() refuses bytes that are no whole elements", async (gpu) => {
  const upload = (bytes: ArrayBuffer) => gpu.upload(bytes, { dtype: "float32" });
  await assertRejects(
    () => upload(new ArrayBuffer(6)),
    RangeError,
    "Cannot upload 6 bytes as float32: they do not divide into elements of 4 bytes",
  );
  const detached = new ArrayBuffer(8);
  detached.transfer();
  await assertRejects(() => upload(detached), TypeError, "is detached");
  assertEquals(gpu.live().count, 0);
});

function shared(values: readonly number[]): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(values.length * 8);
  new Float64Array(memory).set(values);
  return memory;
}

testOnDevice("CudaDevice.upload() and set() take memory of other realms", async (gpu) => {
  for (const name of ["ArrayBuffer", "SharedArrayBuffer"]) {
    const memory: ArrayBuffer = runInNewContext(`new ${name}(4)`);
    new Uint8Array(memory).set([1, 2, 3, 4]);
    using buffer = await gpu.upload(memory, { dtype: "uint8" });
    assertEquals(await buffer.download(), new Uint8Array([1, 2, 3, 4]));
    using zeros = gpu.zeros("uint8", 4);
    await zeros.set(memory);
    assertEquals(await zeros.download(), new Uint8Array([1, 2, 3, 4]));
  }
  using flags = await gpu.upload(runInNewContext("new DataView(new ArrayBuffer(2))"), {
    dtype: "bool",
  });
  assertEquals(await flags.download(), new Uint8Array(2));
});

testOnDevice("CudaDevice.upload(), uploadAll() believe no subclass's length", async (gpu) => {
  class Liar extends Uint8Array<ArrayBuffer> {
    static holding(...values: number[]): Liar {
      return new Liar(Uint8Array.from(values).buffer);
    }
    override get length(): never {
      return 2 ** 30 as never;
    }
    override get byteLength(): never {
      return 2 ** 30 as never;
    }
  }
  using one = await gpu.upload(Liar.holding(1, 2, 3));
  assertEquals([...await one.download()], [1, 2, 3]);
  using packed = await gpu.uploadAll([Liar.holding(4, 5), Liar.holding(6)]);
  assertEquals(packed.buffers.map(({ length }) => length), [2, 1]);
  assertEquals(await gpu.downloadAll([...packed]), [new Uint8Array([4, 5]), new Uint8Array([6])]);
});

testOnDevice("gpu.upload() keeps the shape that an array brings along", async (gpu) => {
  const shaped = (shape: unknown) => Object.assign(new Float32Array([1, 2, 3, 4, 5, 6]), { shape });
  using x = await gpu.upload(shaped([2, 3]));
  using y = await gpu.upload(shaped([2, 3]), { shape: [3, 2] });
  assertEquals([x.shape, y.shape], [[2, 3], [3, 2]]);
  for (const other of [[2, 2], [-2, -3], ["2", 3], [2.5, 2.4], 6, undefined, "2,3"]) {
    using z = await gpu.upload(shaped(other));
    assertEquals(z.shape, [6], String(other));
  }
});
