// Single elements: at(), setAt() and item() for every element type.

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type DType, DTYPE_NAMES, elementBytes, type ScalarOf } from "../../../src/dtype.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { testOnDevice } from "../../support/with_device.ts";

/** A value that every element type can hold without loss. */
function valueOf(dtype: DType): ScalarOf<DType> {
  return dtype === "int64" || dtype === "uint64" ? 1n : 1;
}

/** Those that share no byte with others, and have plain numbers, and zero. */
const PLAIN = DTYPE_NAMES.filter((dtype) => !/[46]_|8_e8|complex/.test(dtype));

for (const dtype of PLAIN) {
  testOnDevice(`GpuBuffer.setAt() writes one ${dtype} that at() reads`, async (gpu) => {
    using buffer = gpu.zeros<DType>(dtype, 3);
    await buffer.setAt(-2, valueOf(dtype));
    const expected = [0, 1, 0].map((value) => elementBytes(dtype) === 8 ? Number(value) : value);
    const found = [await buffer.at(0), await buffer.at(1), await buffer.at(2)];
    assertEquals(found.map(Number), expected);
    assertEquals(typeof found[1], typeof valueOf(dtype));
  });
}

testOnDevice("GpuBuffer.at() reads values beyond small integers", async (gpu) => {
  using wide = await gpu.upload(new BigInt64Array([-(2n ** 63n)]));
  using narrow = await gpu.upload([-2.5], { dtype: "bfloat16" });
  assertEquals(await wide.item(), -(2n ** 63n));
  assertEquals(await narrow.item(), -2.5);
});

testOnDevice("GpuBuffer.at() reads an element that a resize takes away meanwhile", async (gpu) => {
  using buffer = gpu.growable("uint8", { shape: 8, reserveSize: "2 MiB" });
  buffer.uploadSync(new Uint8Array(8).map((_, i) => i));
  const value = buffer.at(5);
  buffer.resize(2);
  assertEquals(await value, 5);
});

testOnDevice("GpuBuffer.at() reads page-locked memory after queued work", async (gpu) => {
  using source = gpu.zeros("uint32", 4).fill(9);
  using pinned = gpu.pinned("uint32", 4);
  pinned.copyFrom(source);
  assertEquals(await pinned.at(3), 9);
});

testOnDevice("GpuBuffer.at() and setAt() refuse an element that is not there", async (gpu) => {
  using buffer = gpu.zeros("uint8", 3);
  for (const index of [3, -4, 0.5, NaN]) {
    await assertRejects(() => buffer.at(index), RangeError, `Cannot reach element ${index}`);
    await assertRejects(() => buffer.setAt(index, 1), RangeError, "from -3 to 2");
  }
  await assertRejects(() => buffer.setAt(0, 256), RangeError, "as uint8");
});

testOnDevice("GpuBuffer.item() refuses more than one element", async (gpu) => {
  using buffer = gpu.zeros("uint8", 3);
  await assertRejects(() => buffer.item(), RangeError, "it has 3 elements");
});

testOnDevice("GpuBuffer refuses iteration with the call that reads elements", (gpu) => {
  using x = gpu.zeros("float32", 3);
  const values = x as unknown as Iterable<number>;
  for (
    const use of [() => [...values], () => Array.from(values), () => new Float32Array(values)]
  ) {
    assertThrows(use, TypeError, "iterate over await x.download()");
  }
  assertThrows(() => Array.from(x.strided() as never), TypeError, "await x.download()");
  using host = gpu.pinned("float32", 2);
  host.array.fill(1);
  assertThrows(() => Array.from(host as never), TypeError, "iterate over x.array");
  assertEquals([...host.array], [1, 1]);
});

testOnDevice("GpuBuffer refuses indices with the call that reads or writes an element", (gpu) => {
  using x = gpu.zeros("float32", 3);
  using host = gpu.pinned("float32", 3);
  for (
    const [buffer, read, write] of [
      [x, "await x.at(i)", "await x.setAt(i, value)"],
      [x.subarray(1), "await x.at(i)", "await x.setAt(i, value)"],
      [x.strided(), "x.view(i).download()", "x.view(i).fill(value)"],
      [host, "use x.array", "use x.array"],
    ] as const
  ) {
    const list = buffer as unknown as Record<number, number>;
    for (const index of [-1, 0, 1, 9]) {
      assertThrows(() => list[index], TypeError, read);
      assertThrows(() => list[index] = 1, TypeError, write);
      assertEquals(Object.hasOwn(buffer, index), false);
    }
    assertEquals(Object.keys(buffer).filter((key) => Number(key) >= 0), []);
  }
});

testOnDevice("GpuBuffer refuses arithmetic, which would be NaN; texts have its name", (gpu) => {
  using x = gpu.zeros("float32", 3, { label: "x" });
  using host = gpu.pinned("float32", 3);
  for (
    const [buffer, instead] of [
      [x, "gpu.compile() makes kernels, await x.download() an array"],
      [x.strided(), "gpu.compile() makes kernels, await x.download() an array"],
      [host, "compute with x.array"],
    ] as const
  ) {
    const number = buffer as unknown as number;
    for (
      const use of [() => number * 2, () => -number, () => number < 3, () => Math.max(number)]
    ) {
      assertThrows(use, TypeError, `Cannot compute with ${buffer}: `);
      assertThrows(use, TypeError, instead);
    }
    assertEquals(`${buffer}`, buffer.toString());
    assertEquals("of " + buffer, `of ${buffer}`);
  }
});

testOnDevice("GpuBuffer is its name in JSON, and no record that looks like data", (gpu) => {
  using x = gpu.zeros("float32", [2, 3], { label: "x" });
  assertEquals(
    JSON.stringify({ x, columns: x.transpose() }),
    '{"x":"DeviceBuffer(x, float32[2, 3])","columns":"StridedView(float32[3, 2] by [1, 3])"}',
  );
});

testOnDevice("DeviceBuffer.set() copies into a part, by TypedArray.set's rules", async (gpu) => {
  using x = gpu.zeros("float32", [2, 3]);
  assertEquals(await x.set([1, 2], 4), x);
  await x.set(new Float32Array([7]), 1);
  await x.view(0).set(new Set([8]), 2);
  await x.set([]);
  await x.set([[5]], 3);
  assertEquals(await x.download(), Float32Array.of(0, 7, 8, 5, 1, 2));
  using halves = gpu.zeros("bfloat16", 3);
  await halves.set(Float32Array.of(1.5, 2), 1);
  await halves.set([0.5]);
  assertEquals(await halves.download(), Float32Array.of(0.5, 1.5, 2));
  using longs = gpu.growable("int64", { reserveSize: 64 }).resize(2);
  await longs.set([-3n], 1);
  assertEquals(await longs.at(1), -3n);
  await assertRejects(() => x.set([1], 6), RangeError, "from 6 on: it has 6, the source 1");
  await assertRejects(() => x.set([1], -1), RangeError, "from -1 on");
  await assertRejects(() => x.set([1], 0.5), RangeError, "from 0.5 on");
  await assertRejects(() => x.set(new Uint8Array(3).buffer), RangeError, "3 bytes");
  await assertRejects(
    () => x.set(new Int32Array(1) as never),
    TypeError,
    "does not hold float32; convert it, astype() does so on the GPU, or pass its buffer",
  );
  await assertRejects(() => x.set(x as never), TypeError, "copyFrom(y)");
  await assertRejects(() => x.set(["1"] as never), TypeError, "expected a number");
  await assertRejects(() => x.set("12" as never), TypeError);
  using bytes = gpu.zeros("uint8", 2);
  await assertRejects(() => bytes.set([256]), RangeError, "from 0 to 255");
  assertEquals(await x.download(), Float32Array.of(0, 7, 8, 5, 1, 2));
});

for (const kind of ["pinned", "mapped", "managed"] as const) {
  testOnDevice(`HostBuffer.set() takes what set() of other buffers takes: ${kind}`, async (gpu) => {
    using x = gpu[kind]("bfloat16", 4);
    assertEquals(x.set(new Set([1.5, -2]), 1), x);
    x.set(new Float32Array([3]), 3).set(new Uint16Array([0x4000]));
    x.subarray(2).set([-2.5]);
    assertEquals(await x.download(), new Float32Array([2, 1.5, -2.5, 3]));
    using bytes = gpu[kind]("uint8", 2).set([1, 2]);
    assertThrows(() => bytes.set([300]), RangeError, "Cannot use 300 as uint8");
    assertThrows(() => bytes.set(new Float32Array(1) as never), TypeError, "not hold uint8");
    assertThrows(() => bytes.set([3], -1), RangeError, "from -1 on");
    assertThrows(() => bytes.set(null as never), TypeError, "expected a typed array");
    using ends = gpu[kind]("uint8", 2, { label: "ends" });
    const values = {
      *[Symbol.iterator]() {
        ends.dispose();
        yield 1;
      },
    };
    assertThrows(() => ends.set(values), DisposedError, "Buffer(ends");
    using wide = gpu[kind]("int64", 1);
    assertThrows(() => wide.set([3] as never), TypeError, "expected a bigint");
    assertEquals(bytes.array, Uint8Array.of(1, 2));
  });
}

testOnDevice("RegisteredBuffer.set() writes into the array that it shows", (gpu) => {
  const own = new Float32Array(1024);
  using registered = gpu.register(own);
  registered.set([1.5], 2);
  assertEquals(own.indexOf(1.5), 2);
});
