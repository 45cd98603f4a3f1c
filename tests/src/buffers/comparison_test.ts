// equals(), firstDifference(), checksum() and iota(): the same results on every driver, at every size
// and place.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { findLibrary } from "../../../ffi/installed_libraries.ts";
import { sourceOf } from "../../../ffi/nvrtc_library.ts";
import { readEntries } from "../../../ffi/ptx.ts";
import { READY_KERNELS } from "../../../ffi/simulated/work/ready_kernels.ts";
import type { DType, GpuBuffer } from "../../../mod.ts";
import { readyText } from "../../../src/launch/ready_kernels.ts";
import { testOnTwoDevices } from "../../support/driver.ts";
import {
  makeReadyPtx,
  READY_COMPILER,
  SOURCE_NAMES,
  SOURCES,
  versionOf,
} from "../../support/kernels/ready_ptx.ts";
import { Random } from "../../support/random.ts";
import { testUnless } from "../../support/test_unless.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

Deno.test("GpuBuffer.firstDifference() finds the first element, at any size and place", () =>
  withDevice(async (gpu) => {
    const random = new Random(3);
    for (const length of [1, 3, 7, 8, 9, 64, 65, 1000, 70_001]) {
      for (const offset of [0, 1, 5]) {
        const values = Uint8Array.from({ length: length + offset }, () => random.below(256));
        using whole = await gpu.upload(values);
        const x = whole.subarray(offset);
        using y = await gpu.upload(values.subarray(offset));
        assertEquals(await x.firstDifference(y), undefined);
        assert(await x.equals(y));
        const places = [random.below(length), random.below(length), length - 1];
        for (const place of places) {
          await y.setAt(place, (values[offset + place] ?? 0) ^ (1 + random.below(255)));
        }
        assertEquals(await x.firstDifference(y), Math.min(...places), `${length} at ${offset}`);
        assertEquals([await y.firstDifference(x), await x.equals(y)], [Math.min(...places), false]);
      }
    }
  }));

testOnDevice("GpuBuffer.equals() compares bits, shapes and kinds of memory", async (gpu) => {
  using x = await gpu.upload(Float32Array.of(NaN, 0, 1, 2));
  using same = await gpu.upload(Float32Array.of(NaN, 0, 1, 2));
  using other = await gpu.upload(Float32Array.of(NaN, -0, 1, 2));
  assertEquals([await x.equals(same), await x.firstDifference(other)], [true, 1]);
  assert(!await x.equals(same.reshape([2, 2])));
  assert(await x.as("uint32").equals(same.as("uint32")));
  using pinned = await gpu.downloadPinned(x);
  using managed = gpu.managed("float32", 4).copyFrom(x);
  using lazy = gpu.lazy("float32", 4).copyFrom(x);
  for (const kind of [pinned, managed, lazy] as GpuBuffer<"float32">[]) {
    assert(await x.equals(kind));
  }
  using empty = gpu.alloc("float32", 0);
  using nothing = gpu.alloc("float32", 0);
  assert(await empty.equals(nothing));
  await assertRejects(
    () => x.equals(other.as("int32") as never),
    TypeError,
    "element types differ",
  );
  await assertRejects(
    () => x.equals(new Float32Array(4) as never),
    TypeError,
    "expected a buffer",
  );
  await assertRejects(() => x.firstDifference(x.subarray(1)), RangeError, "lengths differ");
  same.dispose();
  await assertRejects(() => x.equals(same), Error, "it was disposed");
});

testOnDevice("GpuBuffer.firstDifference() comes after calls that nobody awaited", async (gpu) => {
  const length = LATE_BYTES;
  using stream = gpu.createStream();
  using x = gpu.zeros("uint8", length);
  using y = gpu.zeros("uint8", length, { stream });
  const upload = x.upload(new Uint8Array(length).fill(1), { stream });
  requireUnderWay(stream);
  y.fill(1);
  const same = x.equals(y);
  y.subarray(77, 78).fill(2);
  const place = x.firstDifference(y, { stream });
  const late = x.upload(new Uint8Array(length));
  assertEquals([await same, await place], [true, 77]);
  await Promise.all([upload, late]);
  assertEquals(await x.firstDifference(y), 0);
});

testOnDevice("GpuBuffer.checksum() tells bytes, their places and their number", async (gpu) => {
  const seen = new Set<string>();
  const values = new Uint8Array(1000);
  using x = await gpu.upload(values);
  for (const length of [0, 1, 2, 3, 4, 5, 8, 999, 1000]) {
    seen.add(await x.subarray(0, length).checksum());
  }
  for (const place of [0, 1, 2, 3, 4, 500, 999]) {
    const changed = values.slice();
    changed[place] = 1;
    await x.upload(changed);
    seen.add(await x.checksum());
  }
  assertEquals(seen.size, 16);
  assert([...seen].every((sum) => /^[0-9a-f]{16}$/.test(sum)));
});

testOnDevice("GpuBuffer.checksum() is the same on every machine, at every place", async (gpu) => {
  const values = Uint8Array.from({ length: 100_003 }, (_, index) => index * index % 251);
  using whole = gpu.alloc("uint8", 100_007);
  const sums = new Set<string>();
  for (const offset of [0, 1, 2, 3]) {
    const part = whole.subarray(offset, offset + values.length);
    await part.upload(values);
    sums.add(await part.checksum());
  }
  assertEquals([...sums], [referenceSum(values)]);
  using two = await gpu.upload(Uint8Array.of(1, 2));
  assertEquals(await two.checksum(), referenceSum(Uint8Array.of(1, 2)));
});

/** The sum by its definition, written with big numbers. */
function referenceSum(bytes: Uint8Array): string {
  const u32 = (value: bigint) => BigInt.asUintN(32, value);
  const mixed = (value: bigint) => {
    let hash = value;
    hash = u32((hash ^ (hash >> 16n)) * 0x85ebca6bn);
    hash = u32((hash ^ (hash >> 13n)) * 0xc2b2ae35n);
    return hash ^ (hash >> 16n);
  };
  let [low, high] = [0n, 0n];
  for (let at = 0; at < bytes.length; at += 4) {
    const word = [3, 2, 1, 0].reduce((sum, i) => sum * 256n + BigInt(bytes[at + i] ?? 0), 0n);
    const place = BigInt(at / 4);
    low = u32(low + mixed(word ^ u32(place * 0x9e3779b1n)));
    high = u32(high + mixed(u32(word * 0x85ebca77n) ^ u32(place + 0x7f4a7c15n)));
  }
  const whole = (high << 32n) + low + BigInt(bytes.length) * 0x9e3779b97f4a7c15n;
  return BigInt.asUintN(64, whole).toString(16).padStart(16, "0");
}

testOnDevice("CudaDevice.iota() writes runs of every type it takes", async (gpu) => {
  const runs: readonly [DType, number | bigint, number | bigint][] = [
    ["int8", -3, 2],
    ["uint8", 250, 1],
    ["int16", 5, -7],
    ["uint16", 65_000, 3],
    ["int32", -(2 ** 31), 1],
    ["uint32", 2 ** 32 - 5, 2],
    ["int64", -(2n ** 63n), 1n],
    ["uint64", 2n ** 64n - 2n, 1n],
    ["float32", 0.1, 0.1],
    ["float64", -1e300, 1e297],
  ];
  for (const [dtype, start, step] of runs) {
    using x = gpu.iota(dtype, [3, 333], { start, step });
    const found = await x.download();
    const expected = found.slice();
    for (let index = 0; index < expected.length; index++) {
      const isFloat = typeof start === "number" && dtype.startsWith("float");
      const value = isFloat
        ? start + index * Number(step)
        : BigInt(start) + BigInt(index) * BigInt(step);
      // Typed arrays of whole numbers wrap around by themselves.
      if (typeof expected[index] === "bigint") expected[index] = BigInt(value);
      else expected[index] = isFloat ? Number(value) : Number(BigInt.asIntN(32, BigInt(value)));
    }
    assertEquals(found, expected, dtype);
  }
  using plain = gpu.iota("float32", 5);
  assertEquals(await plain.download(), Float32Array.of(0, 1, 2, 3, 4));
  using none = gpu.iota("int32", 0);
  assertEquals(none.length, 0);
});

testOnDevice("CudaDevice.iota() refuses what no run is made of, and leaves nothing", (gpu) => {
  for (const dtype of ["float16", "bfloat16", "bool"] as const) {
    assertThrows(() => gpu.iota(dtype, 4), TypeError, `a run of ${dtype}`);
  }
  assertThrows(() => gpu.iota("int32", 4, { start: 0.5 }), TypeError, '"start"');
  assertThrows(() => gpu.iota("int32", 4, { step: NaN }), TypeError, '"step"');
  assertThrows(() => gpu.iota("floaty" as never, 4), TypeError, "iota");
});

testOnDevice("CudaDevice.iota() is recorded in a graph", async (gpu) => {
  using x = gpu.zeros("int32", 4);
  using graph = gpu.capture(() => {
    using run = gpu.iota("int32", 4, { start: 5 });
    x.copyFrom(run);
  });
  graph.launch();
  assertEquals(await x.download(), Int32Array.of(5, 6, 7, 8));
});

testOnTwoDevices("GpuBuffer.equals() refuses memory of another device", async (first, second) => {
  using x = first.zeros("uint8", 16);
  using y = second.zeros("uint8", 16);
  const words =
    `Cannot compare ${x} with ${y}: one is on device 0, the other on 1; copy one of them`;
  await assertRejects(() => x.equals(y), TypeError, words);
  await assertRejects(() => x.firstDifference(y), TypeError, words);
  using host = second.pinned("uint8", 16);
  host.array.fill(0);
  assertEquals(await x.equals(host), true);
});

Deno.test("the kit's kernels are the same in PTX and on the simulated driver", () => {
  const names = SOURCE_NAMES.flatMap((name) => [...readEntries(readyText(name)).keys()]);
  assertEquals(names.sort(), Object.keys(READY_KERNELS).sort());
});

const { path } = findLibrary("nvrtc");
const compiler = path === undefined ? undefined : sourceOf(findLibrary("nvrtc")).api;
const version = compiler === undefined ? "none here" : versionOf(compiler);

const otherCompiler = `needs NVRTC ${READY_COMPILER}, there is ${version}`;

testUnless(
  "the PTX of the kit's kernels is what their source gives",
  version === READY_COMPILER ? undefined : otherCompiler,
  async () => {
    assert(compiler !== undefined);
    for (const name of SOURCE_NAMES) {
      assertEquals(readyText(name), await makeReadyPtx(compiler, SOURCES[name]));
    }
  },
);
