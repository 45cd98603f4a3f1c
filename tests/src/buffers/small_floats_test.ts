// Floats of 8, 6 and 4 bits, and complex numbers: their conversions beside Python's ml_dtypes, and what
// packed elements allow.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { unpackBits } from "../../../ffi/small_floats.ts";
import type { CudaDevice, DType } from "../../../mod.ts";
import { readStruct } from "../../support/dlpack.ts";
import { runPython, testsWith } from "../../support/python.ts";
import {
  bitsOf,
  committedTable,
  conversionsIn,
  freshTable,
  inputs,
  SMALL_TYPES,
  type SmallType,
} from "../../support/small_floats/ml_dtypes.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const KNOWN = conversionsIn(await committedTable());
const VALUES = inputs();

const testWithPeer = await testsWith("ml_dtypes", "numpy");

testWithPeer("the committed table is what ml_dtypes gives", async () => {
  assertEquals(await freshTable(), await committedTable());
});

/** Makes the bits that are packed in a byte one to a byte. */
function codesIn(type: SmallType, bytes: Uint8Array): Uint8Array {
  const bits = bitsOf(type);
  return bits === 8 ? bytes : unpackBits(bytes, { bits, count: bytes.length * 8 / bits });
}

/** Names the first difference; the bits of NaN may have a sign. */
function checkCodes(type: SmallType, found: Uint8Array): void {
  const { codes, values } = knownOf(type);
  const isSame = (at: number) =>
    found[at] === codes[at] ||
    Number.isNaN(values[found[at] ?? 0]) && Number.isNaN(values[codes[at] ?? 0]);
  const wrong = codes.findIndex((_, at) => !isSame(at));
  assert(wrong < 0, `${VALUES[wrong]} as ${type}: ${found[wrong]}, not ${codes[wrong]}`);
  assertEquals(found.length, codes.length);
}

function knownOf(type: SmallType) {
  const known = KNOWN.get(type);
  if (known === undefined) throw new TypeError(`the table lacks ${type}`);
  return known;
}

for (const type of SMALL_TYPES) {
  testOnDevice(
    `astype() and download() decode all bits of ${type} as ml_dtypes does`,
    async (gpu) => {
      const { values } = knownOf(type);
      const bits = bitsOf(type);
      const codes = Uint8Array.from(values, (_, code) => code);
      const packed = bits === 8 ? codes : packedOf(codes, bits);
      using x = await gpu.upload(packed, { dtype: type });
      using wide = x.astype("float32");
      assertEquals(await wide.download(), values);
      assertEquals(await x.download(), values);
      assertEquals(await x.download(new Uint8Array(packed.length)), packed);
      for (const at of [0, 1, 2, 3, values.length - 1]) assertEquals(await x.at(at), values[at]);
    },
  );

  testOnDevice(`astype() and upload() encode ${type} as ml_dtypes does`, async (gpu) => {
    using wide = await gpu.upload(VALUES);
    using x = wide.astype(type);
    const bytes = new Uint8Array(x.byteLength);
    checkCodes(type, codesIn(type, await x.download(bytes)));
    using y = await gpu.upload(VALUES, { dtype: type });
    checkCodes(type, codesIn(type, await y.download(bytes)));
    using z = await gpu.upload([...VALUES], { dtype: type });
    checkCodes(type, codesIn(type, await z.download(bytes)));
    using half = wide.astype("float64");
    using once = half.astype(type);
    assertEquals(await once.equals(x), true);
  });
}

/** Packs elements bit by bit. */
function packedOf(codes: Uint8Array, bits: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(codes.length * bits / 8);
  for (let bit = 0; bit < codes.length * bits; bit++) {
    const value = (codes[Math.floor(bit / bits)] ?? 0) >> bit % bits & 1;
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | value << bit % 8;
  }
  return bytes;
}

testOnDevice("astype() rounds doubles and whole numbers to small floats once", async (gpu) => {
  const tie = 1 + 2 ** -4; // half way from 1 to the next float8_e4m3fn
  using x = await gpu.upload(Float64Array.of(tie + 2 ** -50, tie, tie - 2 ** -50, 1e300));
  using y = x.astype("float8_e4m3fn");
  assertEquals(await y.download(), Float32Array.of(1.125, 1, 1, NaN));
  const large = 3n * 2n ** 61n; // half way between two powers of two
  using whole = await gpu.upload(BigInt64Array.of(large, large - 1n, 0n, -1n));
  using scale = whole.astype("float8_e8m0fnu");
  assertEquals(await scale.download(), Float32Array.of(2 ** 63, 2 ** 62, NaN, NaN));
});

testOnDevice("astype() converts views with gaps, and between small floats", async (gpu) => {
  const values = Float32Array.from({ length: 24 }, (_, at) => at % 7 - 3);
  using x = await gpu.upload(values, { shape: [4, 6] });
  const turned = Float32Array.from({ length: 24 }, (_, at) => values[at % 4 * 6 + at / 4 | 0] ?? 0);
  for (const type of ["float8_e5m2", "float6_e3m2fn", "float4_e2m1fn", "complex64"] as const) {
    using y = x.transpose().astype(type);
    using z = y.astype("float6_e2m3fn");
    using w = z.astype("float32");
    assertEquals([y.shape, await w.download()], [[6, 4], turned], type);
    using same = y.astype(type);
    assertEquals(await same.equals(y), true);
  }
  using bytes = x.astype("float8_e4m3fn");
  using columns = bytes.transpose().astype("float32");
  assertEquals(await columns.download(), turned);
});

testOnDevice(
  "astype() takes packed elements of any count, and writes nothing beside them",
  async (gpu) => {
    for (const type of ["float4_e2m1fn", "float6_e2m3fn"] as const) {
      const each = type === "float4_e2m1fn" ? 2 : 4;
      for (const count of [each, 3 * each, 257 * each, 70_001 * each]) {
        const values = Float32Array.from({ length: count }, (_, at) => at % 4);
        using x = await gpu.upload(values);
        using y = gpu.alloc(type, count + 2 * 4).fill(1.5);
        const middle = y.subarray(4, count + 4);
        x.astype(type, { into: middle });
        const all = await y.download();
        assertEquals(all.subarray(4, count + 4), values);
        assertEquals([...all.subarray(0, 4), ...all.subarray(count + 4)], Array(8).fill(1.5));
      }
    }
  },
);

testOnDevice("packed elements are viewed at whole bytes, and else refused by name", async (gpu) => {
  const values = Float32Array.from({ length: 24 }, (_, at) => at % 4);
  using x = await gpu.upload(values, { dtype: "float4_e2m1fn", shape: [4, 6] });
  using y = await gpu.upload(values, { dtype: "float6_e3m2fn", shape: [3, 8] });
  assertEquals([x.byteLength, y.byteLength], [12, 18]);
  assertEquals(await x.view(1).download(), values.subarray(6, 12));
  assertEquals(await y.rows(1).subarray(4, 12).download(), values.subarray(12, 20));
  assertEquals(await x.subarray(2, 4).at(1), 3);
  assertEquals(await y.subarray(4, 8).at(-1), 3);
  assertEquals([x.as("uint8").shape, x.as("uint8").as("float4_e2m1fn").shape], [[12], [24]]);
  assertEquals(x.reshape([2, -1]).shape, [2, 12]);
  const inside: readonly (() => unknown)[] = [
    () => x.subarray(1, 3),
    () => x.subarray(0, 3),
    () => x.split(5),
    () => y.subarray(2, 6),
    () => y.reshape([4, 6]).view(1),
    () => [...x.chunks(3)],
    () => x.slice(1, 2),
    () => gpu.alloc("float4_e2m1fn", 3),
    () => gpu.zeros("float6_e2m3fn", [2, 3]),
    () => gpu.pinned("float4_e2m1fn", 1),
  ];
  for (const call of inside) assertThrows(call, RangeError, "begins or ends inside a byte");
  assertThrows(() => x.subarray(1, 3), RangeError, "from element 1 on");
  assertThrows(() => x.subarray(1, 3), RangeError, "2 elements in 1 byte; use multiples of 2");
  assertThrows(() => y.subarray(2, 6), RangeError, "4 elements in 3 bytes; use multiples of 4");
  for (const call of [() => x.strided(), () => x.transpose()]) {
    assertThrows(call, TypeError, "in strides: float4_e2m1fn has several elements in a byte");
  }
  await assertRejects(() => x.setAt(1, 2), TypeError, "it shares a byte with others");
  assertThrows(() => gpu.pitched("float4_e2m1fn", [4, 6]), TypeError, "several elements in a byte");
  using pinned = gpu.pinned("float4_e2m1fn", 8).set([1, 2, 3, 4], 2);
  const outside: readonly (() => unknown)[] = [
    () => pinned.set([1, 2], 1),
    () => pinned.set([1], 2),
    () => pinned.set(new Float32Array(3), 2),
    () => x.fillPattern(new Float32Array(3)),
  ];
  for (const call of outside) assertThrows(call, RangeError, "inside a byte");
  assertEquals([...await pinned.download()], [0, 0, 1, 2, 3, 4, 0, 0]);
  using strided = gpu.fromDLPack(x.toDLPack(), { strided: true }) as never as typeof x;
  assertEquals(strided.shape, [4, 6]);
  await assertRejects(
    () => gpu.upload(new Uint8Array(2), { dtype: "float6_e2m3fn" }),
    RangeError,
    "do not divide into elements of 0.75 bytes",
  );
  await assertRejects(() => gpu.upload([1, 2, 3], { dtype: "float4_e2m1fn" }), RangeError);
  using folder = new TemporaryFolder();
  await assertRejects(() => x.saveNpy(folder.pathOf("x.npy")), TypeError, "no packed elements");
});

for (const type of [...SMALL_TYPES, "complex64"] as const) {
  testOnDevice(`${type} is filled, set, copied, compared and described`, async (gpu) => {
    using x = gpu.alloc<DType>(type, [2, 8]).fill(2);
    using y = x.slice();
    assertEquals([await x.equals(y), await x.at(7)], [
      true,
      type === "complex64" ? { re: 2, im: 0 } : 2,
    ]);
    await y.subarray(8, 12).upload(
      Float32Array.of(1, 4, 0.5, 4, ...(type === "complex64" ? [1, 0, 0, 0] : [])),
    );
    const found = await x.firstDifference(y);
    assert(found !== undefined && found >= 8 - 3 && found <= 8, `${found}`);
    assertEquals(await x.equals(y), false);
    const { lowest, highest, sampleCount } = await x.describe();
    assertEquals([lowest, highest, sampleCount], [2, 2, 16]);
    using pinned = gpu.pinned<DType>(type, 16).copyFrom(y);
    assertEquals(await pinned.download(), await y.download());
    using grown = gpu.growable<DType>(type, { shape: 8, reserveSize: "4 MiB" }).fill(1);
    grown.resize(16);
    assertEquals(grown.byteLength, x.byteLength);
    using again = gpu.alloc<DType>(type, 16).fill(2);
    assertEquals(await x.checksum(), await again.checksum());
    assertThrows(() => x.fill("2" as never), TypeError, `as ${type}: expected a number`);
  });
}

testOnDevice("complex64 holds pairs of floats, and its elements are { re, im }", async (gpu) => {
  using x = await gpu.upload([[{ re: 3, im: -4 }, 1], [{ re: 0, im: 0.5 }, -2]], {
    dtype: "complex64",
  });
  assertEquals([x.shape, x.byteLength], [[2, 2], 32]);
  assertEquals(await x.download(), Float32Array.of(3, -4, 1, 0, 0, 0.5, -2, 0));
  assertEquals(await x.at(0), { re: 3, im: -4 });
  assertEquals(await x.transpose().at(1), { re: 0, im: 0.5 });
  await x.setAt(-1, { re: 7, im: 8 });
  assertEquals(await x.item().catch((error) => error.constructor), RangeError);
  const { lowest, highest, length, sampleCount } = await x.describe();
  assertEquals([lowest, Math.fround(highest ?? 0), length, sampleCount], [
    0.5,
    Math.fround(Math.hypot(7, 8)),
    4,
    4,
  ]);
  using real = x.astype("float32");
  assertEquals(await real.download(), Float32Array.of(3, 1, 0, 7));
  using truth = x.astype("bool");
  assertEquals([...await truth.download()], [1, 1, 1, 1]);
  using flat = await gpu.upload(Float32Array.of(1, 2, 3, 4), { dtype: "complex64" });
  assertEquals(flat.shape, [2]);
  using turned = x.transpose().contiguous();
  assertEquals(await turned.at(1), { re: 0, im: 0.5 });
  assertEquals((await x.showImage()).range, [0.5, Math.hypot(7, 8)]);
  for (const value of ["1", { re: 1 }, { re: "1", im: 2 }, 1n, null]) {
    assertThrows(() => x.fill(value as never), TypeError, "such as { re: 1, im: -1 }");
  }
  await assertRejects(() => gpu.upload(new Float32Array(3), { dtype: "complex64" }), RangeError);
});

for (const type of [...SMALL_TYPES, "complex64"] as const) {
  testOnDevice(`${type} keeps its bits in a .npy file where numpy has it`, async (gpu) => {
    if (/[46]_/.test(type)) return;
    using folder = new TemporaryFolder();
    const path = folder.pathOf("x.npy");
    const bytes = Uint8Array.from({ length: 64 }, (_, at) => at * 7);
    using x = await gpu.upload(bytes.buffer, { dtype: type as DType });
    await x.saveNpy(path);
    using y = await gpu.loadNpy(path, { dtype: type as DType });
    assertEquals([y.dtype, await y.equals(x)], [type, true]);
    if (type === "complex64") {
      using z = await gpu.loadNpy(path);
      assertEquals(z.dtype, "complex64");
    } else await assertRejects(() => gpu.loadNpy(path), Error, 'pass { dtype: "float8_e4m3fn" }');
  });
}

testWithPeer(
  "arrays of ml_dtypes and complex ones load from numpy's files, and numpy reads ours",
  () =>
    withDevice(async (gpu: CudaDevice) => {
      using folder = new TemporaryFolder();
      const script = `
import sys, numpy, ml_dtypes
folder = sys.argv[1]
for name in sys.argv[2:]:
    values = numpy.arange(-8, 8).reshape(2, 8)
    dtype = getattr(ml_dtypes, name, None) or numpy.dtype(name)
    path = f"{folder}/{name}.npy"
    try:
        ours = numpy.load(path)
    except FileNotFoundError:
        numpy.save(path, values.astype(dtype))
        numpy.save(f"{folder}/{name}_f.npy", numpy.asfortranarray(values.astype(dtype)))
    else:
        assert (ours.view(dtype) == values.astype(dtype)).all(), name
numpy.save(f"{folder}/big.npy", numpy.array([1 + 2j, -3j], ">c8"))
`;
      const types = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"] as const;
      const names = [...types, "complex64"] as const;
      await runPython(["-c", script, folder.path, ...names]);
      const values = Float32Array.from({ length: 16 }, (_, at) => at - 8);
      for (const name of names) {
        for (const file of [`${name}.npy`, `${name}_f.npy`]) {
          using x = await gpu.loadNpy(folder.pathOf(file), { dtype: name as DType });
          using y = x.astype("float32");
          assertEquals([x.shape, await y.download()], [[2, 8], values], file);
          if (file === `${name}.npy`) await x.saveNpy(folder.pathOf(file));
        }
      }
      await runPython(["-c", script, folder.path, ...names]);
      using big = await gpu.loadNpy(folder.pathOf("big.npy"), { dtype: "complex64" });
      assertEquals(await big.download(), Float32Array.of(1, 2, 0, -3));
    }),
);

testOnDevice(
  "pairs of 4-bit floats are one element of two lanes to other libraries",
  async (gpu) => {
    const values = Float32Array.from({ length: 24 }, (_, at) => at % 4);
    using x = await gpu.upload(values, { dtype: "float4_e2m1fn", shape: [2, 3, 4] });
    const tensor = x.toDLPack();
    const { shape, strides, dl_tensor: { dtype } } = readStruct(tensor.address);
    assertEquals([shape, strides, dtype], [[2, 3, 2], [6, 2, 1], { code: 17, bits: 4, lanes: 2 }]);
    using y = gpu.fromDLPack(tensor, { dtype: "float4_e2m1fn" });
    assertEquals([y.shape, await y.download()], [[2, 3, 4], values]);
    using single = x.reshape([8, 3]).toDLPack();
    const odd = readStruct(single.address);
    assertEquals([odd.shape, odd.dl_tensor.dtype.lanes], [[8, 3], 1]);
    using z = gpu.zeros("float6_e2m3fn", [2, 4]);
    using six = z.toDLPack();
    assertEquals(readStruct(six.address).dl_tensor.dtype, { code: 15, bits: 6, lanes: 1 });
  },
);

testOnDevice(
  "a saved model keeps every type, plain buffers take the formats by name",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("x.safetensors");
    using stack = new DisposableStack();
    const bytes = Uint8Array.from({ length: 48 }, (_, at) => at * 5);
    const types = [...SMALL_TYPES, "complex64", "bfloat16"] as const;
    const tensors = new Map<string, ReturnType<typeof gpu.alloc>>();
    for (const type of types) {
      tensors.set(
        type,
        stack.use(await gpu.upload(bytes.buffer, { dtype: type as DType })) as never,
      );
    }
    await gpu.saveSafetensors(path, tensors);
    using model = await gpu.loadSafetensors(path);
    for (const type of types) {
      const tensor = model.tensor(type);
      assertEquals([tensor.dtype, tensor.length], [type, tensors.get(type)?.length]);
      assertEquals(await tensor.as("uint8").download(), bytes);
    }
    const again = folder.pathOf("y.safetensors");
    await gpu.saveSafetensors(again, model);
    assertEquals(Deno.readFileSync(again), Deno.readFileSync(path));
    using plain = await gpu.upload(bytes, { shape: [6, 8] });
    await gpu.saveSafetensors(again, { plain }, { formats: { plain: "F6_E2M3" } }).then(
      () => assert(false),
      (error) => assert(`${error}`.includes("no whole number of F6_E2M3"), `${error}`),
    );
    await gpu.saveSafetensors(again, { plain }, { formats: { plain: "F4" } });
    using four = await gpu.loadSafetensors(again);
    assertEquals(four.tensor("plain", "float4_e2m1fn").shape, [6, 16]);
  },
);

testOnDevice("set() refuses arrays that end inside an element by their bytes", async (gpu) => {
  using packed = gpu.zeros("float6_e2m3fn", 8);
  await assertRejects(() => packed.set(new Uint8Array(1), 4), RangeError, "elements of 0.75 bytes");
  using complex = gpu.zeros("complex64", 4);
  await assertRejects(() => complex.set(new Float32Array(3)), RangeError, "12 bytes: they do not");
  assertEquals(new Set([...await complex.download(), ...await packed.download()]), new Set([0]));
});
