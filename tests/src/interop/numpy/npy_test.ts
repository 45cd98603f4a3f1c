// .npy and .npz files: against numpy itself, against damaged and hostile ones, and whole or not at all.

import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { pathToFileURL } from "node:url";
import {
  type CudaDevice,
  type DeviceBuffer,
  DisposedError,
  type DType,
  OutOfMemoryError,
} from "../../../../mod.ts";
import { loadNpz, NumpyError, saveNpz } from "../../../../src/entries/numpy.ts";
import { simulateDriver } from "../../../../src/entries/simulated.ts";
import { encodeNpyHeader, readNpyHeader } from "../../../../src/numpy/npy_header.ts";
import { archiveOf, joined } from "../../../support/zip.ts";
import { cardOf } from "../../../support/display.ts";
import { namesIn } from "../../../support/files.ts";
import { runPython, testsWith } from "../../../support/python.ts";
import { type Random, share, testRandom } from "../../../support/random.ts";
import { TemporaryFolder } from "../../../support/temporary_folder.ts";
import { LATE_BYTES, requireUnderWay } from "../../../support/under_way.ts";
import { testOfAll } from "../../../support/test_unless.ts";
import { testOnDevice, withDevice } from "../../../support/with_device.ts";

const testWithNumpy = await testsWith("numpy");

const TYPES: readonly DType[] = [
  ...["float16", "float32", "float64", "int8", "int16", "int32", "int64"] as const,
  ...["uint8", "uint16", "uint32", "uint64", "bool"] as const,
];

const SHAPES: readonly (readonly number[])[] = [
  ...[[], [0], [1], [7], [3, 5], [2, 0, 3], [2, 3, 4], [1, 1, 1, 5]],
];

/** Writes the text of a header as a file of a version, with no elements behind it. */
function fileOf(text: string, version = 1): Uint8Array<ArrayBuffer> {
  const encoded = new TextEncoder().encode(text);
  const lengthBytes = version === 1 ? 2 : 4;
  const file = new Uint8Array(8 + lengthBytes + encoded.byteLength);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0]);
  const view = new DataView(file.buffer);
  if (version === 1) view.setUint16(8, encoded.byteLength, true);
  else view.setUint32(8, encoded.byteLength, true);
  file.set(encoded, 8 + lengthBytes);
  return file;
}

testOnDevice("saveNpy() and loadNpy() bring every type and shape back", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = `${folder.path}/x.npy`;
  for (const dtype of TYPES) {
    for (const shape of SHAPES) {
      using x = gpu.zeros(dtype, [...shape]);
      using bytes = x.as("uint8");
      if (x.length > 0) {
        await bytes.upload(Uint8Array.from({ length: bytes.length }, (_, i) => i & 1));
      }
      await x.saveNpy(path);
      using y = await gpu.loadNpy(path, { dtype });
      assertEquals([y.dtype, y.shape], [dtype, shape]);
      assert(await x.equals(y));
    }
  }
});

testOnDevice("loadNpy() refuses a file of another element type than is expected", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = `${folder.path}/x.npy`;
  using x = gpu.zeros("float64", 4);
  await x.saveNpy(path);
  const words = `Cannot load ${path} as float32: it is float64`;
  await assertRejects(() => gpu.loadNpy(path, { dtype: "float32" }), TypeError, words);
  assertEquals(gpu.live().count, 1);
});

Deno.test("saveNpy() replaces a file when the new one is whole, after calls that nobody awaited", () =>
  withDevice(async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.write("x.npy", "old");
    using x = gpu.alloc("uint8", LATE_BYTES);
    const upload = x.upload(new Uint8Array(LATE_BYTES).fill(7));
    requireUnderWay(gpu.stream);
    const save = x.saveNpy(path);
    x.fill(9);
    const load = gpu.loadNpy(path, { label: "loaded" });
    await Promise.all([upload, save]);
    using y = await load;
    assertEquals([y.label, (await y.download())[1 << 20]], ["loaded", 7]);
    using deep = gpu.zeros("int8", Array(65).fill(1));
    await assertRejects(() => deep.saveNpy(path), TypeError, "65 axes");
    await assertRejects(() => saveNpz(path, { deep }), TypeError, "65 axes");
    const signal = AbortSignal.abort(new Error("enough"));
    await assertRejects(() => x.saveNpy(path, { signal }), Error, "enough");
    using again = await gpu.loadNpy(path);
    assertEquals(again.length, LATE_BYTES);
    assertEquals([...Deno.readDirSync(folder.path)].map(({ name }) => name), ["x.npy"]);
  }));

Deno.test("loadNpy() refuses headers that break the format, and elements without a type", () =>
  withDevice(async (gpu) => {
    using folder = new TemporaryFolder();
    const good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    const wrong: readonly [string | Uint8Array, string][] = [
      ["", "it is no .npy file"],
      ["hello, world, I am no array", "it is no .npy file"],
      [
        "PK\x03\x04 and so on and on",
        "it is no .npy file but a ZIP archive, as .npz and .pt files",
      ],
      [`xxxxxxxx{"x": {"dtype": "F32"`, "it is no .npy file but safetensors"],
      ["<!DOCTYPE html><html><body>", "it is no .npy file but a web page"],
      [fileOf(good), "it has 67 of the 75 bytes"],
      [fileOf(good).subarray(0, 30), "it ends within its header"],
      [fileOf(good, 4), "its version is 4.0, known are 1.0, 2.0 and 3.0"],
      [fileOf(good).with(7, 1), "its version is 1.1, known are 1.0, 2.0 and 3.0"],
      [fileOf(good.replace("<f4", "|O")), "objects, which only Python reads"],
      [fileOf(good.replace("<f4", "<c16")), "complex numbers"],
      [fileOf(good.replace("<f4", "<U5")), "texts"],
      [fileOf(good.replace("<f4", "<f16")), "floats of a size"],
      [fileOf(good.replace("<f4", "<M8[ns]")), "dates"],
      [fileOf(good.replace("'<f4'", "[('a', '<f4')]")), "structures"],
      [fileOf(good.replace("<f4", "longdouble")), "floats of a size"],
      [fileOf(good.replace("<f4", "complex128")), "complex numbers"],
      [fileOf(good.replace("<f4", "<f3")), '"<f3", a type that the kit does not know'],
      [fileOf(good.replace("<f4", "<V1")), 'pass { dtype: "float8_e4m3fn" } or its like'],
      [fileOf(good.replace("<f4", "<float32")), "a type that the kit does not know"],
      [fileOf(good.replace("<f4", "constructor")), "a type that the kit does not know"],
      [fileOf(good.replace("<f4", "|V2")), 'structures; pass { dtype: "bfloat16" } to loadNpy()'],
      [fileOf(good.replace("False", "Maybe")), "neither True nor False"],
      [fileOf(good.replace("(2,)", "(2)")), "is a number, not a tuple"],
      [fileOf(good.replace("(2,)", "(-2,)")), "a size was expected"],
      [fileOf(good.replace("(2,)", "(99999999999999999,)")), "more elements than there can be"],
      [fileOf(good.replace("(2,)", `(${"9".repeat(30)},)`)), "more elements than there can be"],
      [fileOf(good.replace("(2,)", "(4294967296, 4294967296)")), "more elements than there can be"],
      [fileOf(good.replace("(2,)", `(${"1, ".repeat(65)})`)), "more than 64 axes"],
      [fileOf(good.replace("'shape'", "'form'")), "unknown or there twice"],
      [fileOf(good.replace("'shape': (2,), ", "")), "it lacks"],
      [fileOf(`${good}; import os`), "something follows it"],
      [fileOf(good.replace("'descr': '<f4'", "'descr': __import__('os')")), "a text was expected"],
    ];
    for (const [contents, words] of wrong) {
      const path = folder.write("x.npy", "");
      const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
      Deno.writeFileSync(path, bytes);
      const error = await assertRejects(() => gpu.loadNpy(path), NumpyError, words);
      assert(error.message.startsWith(`Cannot load ${path}: `) && error.path === path);
    }
    await assertRejects(() => gpu.loadNpy(`${folder.path}/nowhere.npy`), Deno.errors.NotFound);
    await assertRejects(() => gpu.loadNpy(folder.path), TypeError);
  }));

const HUGE_BYTES = 2 ** 40;

/** Runs a test with a file of big-endian elements that has no room on the disk, and a device that has. */
function withHugeFile(body: (gpu: CudaDevice, path: string) => Promise<void>): Promise<void> {
  return withDevice(async (gpu) => {
    using folder = new TemporaryFolder();
    const text = `{'descr': '>f4', 'fortran_order': False, 'shape': (${HUGE_BYTES / 4},)}\n`;
    const path = folder.write("x.npy", "");
    Deno.writeFileSync(path, fileOf(text));
    Deno.truncateSync(path, fileOf(text).byteLength + HUGE_BYTES);
    await body(gpu, path);
    assertEquals(gpu.live().count, 0);
  }, { driver: simulateDriver({ memorySize: "64 TiB" }) });
}

Deno.test("loadNpy() asks for the device's memory before the host's", () =>
  withHugeFile(async (gpu, path) => {
    gpu.limit("1 GiB");
    await assertRejects(() => gpu.loadNpy(path), OutOfMemoryError, "limit");
  }));

testOnDevice("loadNpy() reads elements of other byte orders in pieces", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("x.npy");
  const count = 1_300_001; // of 8 bytes: many pieces
  using x = gpu.iota("float64", count, { start: 0.5 });
  await x.saveNpy(path);
  const bytes = Deno.readFileSync(path);
  const start = bytes.byteLength - 8 * count;
  bytes.subarray(start).reverse();
  bytes.set(new TextEncoder().encode(">"), bytes.indexOf("<".charCodeAt(0)));
  Deno.writeFileSync(path, bytes);
  const heard: number[] = [];
  using y = await gpu.loadNpy(path, { onProgress: (doneBytes) => void heard.push(doneBytes) });
  assertEquals(await y.download(), (await x.download()).reverse());
  assertEquals([heard.at(-1), heard.length > 1], [8 * count, true]);
  const signal = AbortSignal.abort(new Error("enough"));
  await assertRejects(() => gpu.loadNpy(path, { signal }), Error, "enough");
});

testOnDevice("loadNpy() takes every name of a type that numpy takes", async (gpu) => {
  using folder = new TemporaryFolder();
  const names: readonly (readonly [string, DType])[] = [
    ...TYPES.map((dtype) => [dtype, dtype] as const),
    ...[["?", "bool"], ["<?", "bool"], ["q", "int64"], [">q", "int64"], [
      "|f4",
      "float32",
    ]] as const,
    ...[["=i2", "int16"], ["e", "float16"], ["<d", "float64"], ["B", "uint8"]] as const,
    ...[["half", "float16"], ["double", "float64"], ["intc", "int32"], ["uint", "uint64"]] as const,
    ...[["l", "int64"], ["b", "int8"], ["bool_", "bool"], ["<V2", "bfloat16"]] as const,
  ];
  for (const [name, dtype] of names) {
    const text = `{'descr': '${name}', 'fortran_order': False, 'shape': (0,), }`;
    using x = await gpu.loadNpy(folder.write("x.npy", fileOf(text)));
    assertEquals([name, x.dtype], [name, dtype]);
  }
});

testOnDevice(
  "bfloat16 goes into numpy's files as ml_dtypes has it, and comes back",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("x.npy");
    using x = await gpu.upload([1, -2.5, 3], { dtype: "bfloat16" });
    await x.saveNpy(path);
    const text = Deno.readTextFileSync(path);
    assertStringIncludes(text, "'descr': '<V2'");
    using y = await gpu.loadNpy(path, { dtype: "bfloat16" });
    assertEquals(await y.download(), Float32Array.of(1, -2.5, 3));
    await saveNpz(folder.pathOf("x.npz"), { x });
    using arrays = await loadNpz(folder.pathOf("x.npz"), gpu);
    assertEquals(await arrays.array("x", "bfloat16").download(), Float32Array.of(1, -2.5, 3));
    // Structures of 2 bytes that nobody has named a type for.
    const bytes = Deno.readFileSync(path);
    bytes[bytes.indexOf("<".charCodeAt(0))] = "|".charCodeAt(0);
    Deno.writeFileSync(path, bytes);
    using z = await gpu.loadNpy(path, { dtype: "bfloat16" });
    assertEquals(await z.download(), Float32Array.of(1, -2.5, 3));
  },
);

Deno.test("readNpyHeader() reads what encodeNpyHeader() writes, and every version", () => {
  for (const dtype of TYPES) {
    for (const shape of SHAPES) {
      const header = encodeNpyHeader(dtype, shape);
      const { byteLength, ...rest } = readNpyHeader("x", header);
      assertEquals([byteLength, byteLength % 64], [header.byteLength, 0]);
      const count = shape.reduce((product, size) => product * size, 1);
      assertEquals(rest, { dtype, shape: [...shape], count, isBigEndian: false, isFortran: false });
    }
  }
  for (const version of [1, 2, 3]) {
    const text = `{"fortran_order":True,"shape":(2L,3),"descr":">i2"}\n`;
    const header = readNpyHeader("x", fileOf(text, version));
    assertEquals([header.shape, header.isBigEndian, header.isFortran], [[2, 3], true, true]);
  }
});

testOnDevice("damaged files of numpy's end in words, or are read as they are", async (gpu) => {
  using folder = new TemporaryFolder();
  const random = testRandom();
  using x = gpu.iota("int32", [5, 7]);
  using y = gpu.iota("float32", 300);
  const paths = ["x.npy", "stored.npz", "deflated.npz"].map((name) => `${folder.path}/${name}`);
  const [npy = "", stored = "", deflated = ""] = paths;
  await x.saveNpy(npy);
  await saveNpz(stored, { x, y });
  await saveNpz(deflated, { x, y }, { compress: true });
  for (const path of [npy, stored, deflated]) {
    const original = Deno.readFileSync(path);
    let readCount = 0;
    for (let round = 0; round < share(250); round++) {
      Deno.writeFileSync(path, damage(original, random));
      try {
        using _loaded = path === npy ? await gpu.loadNpy(path) : await loadNpz(path, gpu);
        readCount++;
      } catch (error) {
        const isKnown = error instanceof NumpyError ||
          (error instanceof Error && error.name === "OutOfMemoryError");
        assert(isKnown, `${path} ended in ${error}`);
      }
    }
    assert(readCount < share(250), "no damage was seen");
  }
});

/** Changes some bytes, cuts some off, or puts some in. */
function damage(original: Uint8Array, random: Random): Uint8Array<ArrayBuffer> {
  const bytes = [...original];
  for (let change = random.below(3); change >= 0; change--) {
    // Beginnings and ends are where the structure lies.
    const near = random.below(2) === 0 ? random.below(130) : bytes.length - 1 - random.below(200);
    const at = random.below(4) === 0 ? random.below(bytes.length) : Math.max(0, near);
    switch (random.below(5)) {
      case 0:
        bytes.splice(at, 1 + random.below(20));
        break;
      case 1:
        bytes.splice(
          at,
          0,
          ...Array.from({ length: 1 + random.below(9) }, () => random.below(256)),
        );
        break;
      case 2:
        bytes.length = Math.min(bytes.length, at);
        break;
      default:
        bytes[at] = random.below(3) === 0 ? 255 : random.below(256);
    }
  }
  return Uint8Array.from(bytes);
}

testOnDevice("saveNpz() and loadNpz() bring arrays back, stored and deflated", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = `${folder.path}/x.npz`;
  using x = gpu.iota("int32", [3, 4]);
  using y = gpu.iota("float64", 1000, { step: 0.5 });
  using pinned = gpu.pinned("uint8", 4).fill(3);
  for (const compress of [false, true]) {
    const save = saveNpz(
      path,
      new Map<string, typeof x | typeof y | typeof pinned>([["x", x], ["ü y", y], [
        "pinned",
        pinned,
      ]]),
      { compress },
    );
    y.fill(0);
    await save;
    using arrays = await loadNpz(path, gpu);
    assertEquals(arrays.names, ["x", "ü y", "pinned"]);
    assert(await x.equals(arrays.array("x").as("int32").reshape([3, 4])));
    assertEquals((await arrays.array("ü y").download())[4], 2);
    assertEquals([...arrays].map(([, { dtype, shape }]) => [dtype, shape])[2], ["uint8", [4]]);
    await assertRejects(() => Promise.try(() => arrays.array("z")), RangeError, '"z"');
    const counts: DeviceBuffer<"int32"> = arrays.array("x", "int32");
    assertEquals(counts.dtype, "int32");
    assertThrows(() => arrays.array("x", "int8"), TypeError, '"x" as int8: it is int32');
    await y.upload(Float64Array.from({ length: 1000 }, (_, index) => index * 0.5));
  }
  const wrong: readonly [unknown, string][] = [
    [{ x: new Float32Array(4) }, "is a Float32Array, expected a buffer: await gpu.upload()"],
    [{ x: x.transpose() }, "expected a buffer: contiguous() makes one"],
    [Promise.resolve({ x }), "a promise, which has to be awaited, expected buffers by name"],
    [x, "it was given DeviceBuffer"],
    [[x], "entry 0 is DeviceBuffer"],
    [{ "x\ud800": x }, 'array "x\\ud800" has half of a surrogate pair'],
    [[["x", x], ["x", y]], 'two arrays "x"'],
    [5, "expected buffers by name"],
    [[["", x]], "no name of an array"],
    [[["é".repeat(2 ** 15), x]], "is a name of 65540 bytes, archives have room for 65535"],
  ];
  const before = Deno.readFileSync(path);
  for (const [arrays, words] of wrong) {
    await assertRejects(() => saveNpz(path, arrays as never), TypeError, words);
  }
  assertEquals(Deno.readFileSync(path), before);
  const own = new Error("enough");
  const onProgress = () => {
    throw own;
  };
  const failing = saveNpz(path, { y: x }, { onProgress });
  assertStrictEquals(await assertRejects(() => failing), own);
  assertEquals(Deno.readFileSync(path), before);
  await saveNpz(path, {});
  using none = await loadNpz(path, gpu);
  assertEquals(none.names, []);
});

Deno.test("saveNpz() that is aborted or fails on the way lets the next save have its turn", () =>
  withDevice(async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("all.npz");
    using x = gpu.zeros("float32", 2 ** 20);
    const abort = new AbortController();
    const saved = saveNpz(path, { x }, { signal: abort.signal });
    abort.abort();
    await assertRejects(() => saved, DOMException, "aborted");
    await assertRejects(() => saveNpz(`${path}/`, { x }), TypeError, "it names a folder");
    assertEquals(namesIn(folder), []);
    await saveNpz(path, { x });
    assertEquals(namesIn(folder), ["all.npz"]);
  }));

for (const options of [{}, { compress: true }, { inPlace: true }]) {
  Deno.test(`saveNpz() with ${JSON.stringify(options)} has its place in the order of calls`, () =>
    withDevice(async (gpu) => {
      using folder = new TemporaryFolder();
      const path = folder.pathOf("x.npz");
      using large = gpu.zeros("uint8", LATE_BYTES);
      using x = gpu.iota("float32", 3);
      const saves = [saveNpz(path, { large }, options), saveNpz(path, { x }, options)];
      const load = loadNpz(path, gpu);
      saves.push(saveNpz(path, { y: x }, options));
      await Promise.all(saves);
      using before = await load;
      using after = await loadNpz(path, gpu);
      assertEquals([before.names, after.names], [["x"], ["y"]]);
    }));
}

testOfAll(
  "saveNpz() refuses names that loadNpz() would not read, and keeps the old file",
  () =>
    withDevice(async (gpu) => {
      using folder = new TemporaryFolder();
      const path = folder.write("x.npz", "old");
      using x = gpu.zeros("uint8", 0);
      const long = "x".repeat(2 ** 16 - 10);
      const arrays = Array.from({ length: 1100 }, (_, i) => [`${long}${i}`, x] as const);
      await assertRejects(() => saveNpz(path, arrays), RangeError, "64 MiB of names");
      assertEquals(Deno.readTextFileSync(path), "old");
    }),
);

testOnDevice("saveNpz() looks at its path when it is called, and refuses it then", async (gpu) => {
  using folder = new TemporaryFolder();
  using x = gpu.iota("float32", 3);
  const url = pathToFileURL(folder.pathOf("x.npz"));
  const save = saveNpz(url, { x });
  url.pathname += ".moved";
  await save;
  const signal = AbortSignal.abort(new Error("enough"));
  const refused = saveNpz(folder.path + "/missing/x.npz", { x }, { signal });
  await assertRejects(() => refused, Deno.errors.NotFound, "/missing does not exist");
  assertEquals([...Deno.readDirSync(folder.path)].map(({ name }) => name), ["x.npz"]);
});

testOnDevice("loadNpz() loads nothing when one array cannot be loaded", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = `${folder.path}/x.npz`;
  using x = gpu.iota("int32", 1000);
  await saveNpz(path, { first: x, second: x });
  const bytes = Deno.readFileSync(path);
  bytes[bytes.length - 300] = 1 + (bytes[bytes.length - 300] ?? 0);
  Deno.writeFileSync(path, bytes);
  await assertRejects(() => loadNpz(path, gpu), NumpyError, 'checksum of "second.npy"');
  await assertRejects(
    () => loadNpz(folder.write("y.npz", "no archive at all, but long enough"), gpu),
    NumpyError,
    "no ZIP archive",
  );
});

Deno.test("loadNpz() loads the others beside an array that has no type here, and names that one", () =>
  withDevice(async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.write("x.npz", "");
    const text = "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (0,), }";
    const numbers = encodeNpyHeader("float32", [0]);
    const words = new TextEncoder().encode("what these arrays are");
    Deno.writeFileSync(
      path,
      archiveOf({
        "dates.npy": fileOf(text),
        "x.npy": numbers,
        "README": words,
        "short.npy": encodeNpyHeader("float32", [3]),
      }),
    );
    using arrays = await loadNpz(path, gpu);
    assertEquals(arrays.names, ["dates", "x", "README", "short"]);
    assertEquals(arrays.unreadable, ["dates", "README", "short"]);
    assertEquals([arrays.size, arrays.has("dates"), arrays.has("x.npy")], [4, true, false]);
    assertEquals([...arrays].map(([name]) => name), ["x"]);
    assertEquals(arrays.array("x", "float32").length, 0);
    for (
      const [name, reason] of [
        ["dates", '/dates.npy: its elements are "<M8[ns]", dates'],
        ["README", "/README: it is no .npy file"],
        ["short", "/short.npy: it was cut off"],
      ] as const
    ) {
      const error = assertThrows(
        () => arrays.array(name),
        NumpyError,
        `Cannot load ${path}${reason}`,
      );
      assertEquals(error.path, `${path}${reason.split(":")[0]}`);
    }
    const before = Deno.readFileSync(path);
    const loss = 'it would lose what was not loaded, "dates", "README", "short"; pass ' +
      "Object.fromEntries(arrays) to save the others";
    await assertRejects(() => saveNpz(path, arrays), TypeError, loss);
    assertEquals(Deno.readFileSync(path), before);
    await saveNpz(path, Object.fromEntries(arrays));
    using others = await loadNpz(path, gpu);
    assertEquals([others.names, others.unreadable], [["x"], []]);
    assertStringIncludes(
      Deno.inspect(arrays),
      "(dates: unreadable, x: DeviceBuffer(x, float32[0])",
    );
    const { text: card } = await cardOf(arrays);
    assertStringIncludes(
      card,
      "NpzArrays 1 array: 0 B of device memory\nnot loaded: dates, README, short",
    );
  }));

testOnDevice("NpzArrays name themselves, and say so once they are disposed", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("x.npz");
  using x = gpu.zeros("int8", 3);
  await saveNpz(path, Object.fromEntries(Array.from("abcdef", (name) => [name, x])));
  await using arrays = await loadNpz(path, gpu);
  const words = 'Cannot find array "z": the archive has 6, such as "a", "b", "c"';
  assertThrows(() => arrays.array("z"), RangeError, words);
  assertEquals([`${arrays}`, arrays.disposed], ["NpzArrays(6 arrays, 18 B)", false]);
  arrays.dispose();
  assertEquals([`${arrays}`, arrays.disposed], ["NpzArrays(6 arrays, 18 B)", true]);
  assertThrows(() => arrays.array("a"), DisposedError, `Cannot use ${arrays}: it was disposed`);
});

testOnDevice("loadNpz() keeps an array and a file of the same name apart", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.write("x.npz", "");
  const files = { "x.npy": encodeNpyHeader("float32", []), "x": encodeNpyHeader("int8", []) };
  const data = new Uint8Array(4);
  const whole = Object.entries(files).map(([name, header]) => [name, joined(header, data)]);
  Deno.writeFileSync(path, archiveOf(Object.fromEntries(whole)));
  using arrays = await loadNpz(path, gpu);
  assertEquals([...arrays].map(([name, { dtype }]) => [name, dtype]), [
    ["x.npy", "float32"],
    ["x", "int8"],
  ]);
});

testWithNumpy("numpy loads what saveNpy() and saveNpz() write", () =>
  withDevice(async (gpu) => {
    using folder = new TemporaryFolder();
    for (const dtype of TYPES) {
      if (dtype === "bool" || dtype === "float16") continue;
      using x = gpu.iota(dtype, [3, 5], { start: 1 });
      await x.saveNpy(`${folder.path}/${dtype}.npy`);
    }
    using x = gpu.iota("int16", [2, 3]);
    using y = gpu.zeros("bool", []).fill(true);
    using z = gpu.zeros("float16", 3).fill(1.5);
    await saveNpz(`${folder.path}/stored.npz`, { x, y, z });
    await saveNpz(`${folder.path}/deflated.npz`, { x, y, z }, { compress: true });
    const printed = await runPython([
      "-c",
      `
import numpy, sys, glob
for path in sorted(glob.glob(sys.argv[1] + "/*.npy")):
    a = numpy.load(path)
    assert a.dtype.name == path.split("/")[-1][:-4] and a.shape == (3, 5) and a.flags.c_contiguous, path
    assert (a == numpy.arange(1, 16).reshape(3, 5)).all(), path
for name in ("stored", "deflated"):
    with numpy.load(f"{sys.argv[1]}/{name}.npz") as arrays:
        assert sorted(arrays) == ["x", "y", "z"], list(arrays)
        assert (arrays["x"] == numpy.arange(6).reshape(2, 3)).all() and arrays["x"].dtype == numpy.int16
        assert arrays["y"].shape == () and arrays["y"] == True
        assert arrays["z"].dtype == numpy.float16 and (arrays["z"] == 1.5).all()
print("fine")
`,
      folder.path,
    ]);
    assertEquals(printed.trim(), "fine");
  }));

testWithNumpy("loadNpy() and loadNpz() load what numpy writes", () =>
  withDevice(async (gpu) => {
    using folder = new TemporaryFolder();
    const described = JSON.parse(
      await runPython([
        "-c",
        `
import json, numpy, sys
folder = sys.argv[1]
found = []
def save(name, a, version=None):
    with open(f"{folder}/{name}.npy", "wb") as file:
        numpy.lib.format.write_array(file, a, version=version, allow_pickle=True)
    found.append([name, a.dtype.newbyteorder("=").name, list(a.shape),
                  [float(value) for value in a.astype(numpy.float64).ravel(order="C")]])
for code in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
    base = numpy.arange(24).reshape(2, 3, 4)
    for order in "<>":
        save(f"c{order}{code}", base.astype(order + code))
        save(f"f{order}{code}", numpy.asfortranarray(base.astype(order + code)))
save("bool", numpy.array([True, False, True]))
save("scalar", numpy.array(2.5))
save("empty", numpy.zeros((0, 3), order="F"))
save("v2", numpy.arange(6.0).reshape(2, 3), (2, 0))
save("v3", numpy.arange(6.0).reshape(3, 2).T, (3, 0))
numpy.savez(f"{folder}/stored.npz", a=numpy.arange(5), b=numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3)))
numpy.savez_compressed(f"{folder}/deflated.npz", a=numpy.arange(5), b=numpy.arange(6.0).reshape(2, 3).astype(">f8"))
numpy.save(f"{folder}/objects.npy", numpy.array([{}, []], dtype=object), allow_pickle=True)
numpy.save(f"{folder}/text.npy", numpy.array(["a", "b"]))
print(json.dumps(found))
`,
        folder.path,
      ]),
    ) as [string, string, number[], number[]][];
    assert(described.length > 40);
    for (const [name, dtype, shape, values] of described) {
      using x = await gpu.loadNpy(`${folder.path}/${name}.npy`);
      assertEquals([name, x.dtype as string, x.shape], [name, dtype, shape]);
      assertEquals(Array.from(await x.download() as Iterable<number>, Number), values, name);
    }
    for (const name of ["stored", "deflated"]) {
      using arrays = await loadNpz(`${folder.path}/${name}.npz`, gpu);
      assertEquals(arrays.names, ["a", "b"]);
      assertEquals(arrays.array("b").shape, [2, 3]);
      assertEquals(await arrays.array("b").download(), Float64Array.of(0, 1, 2, 3, 4, 5));
    }
    for (const name of ["objects", "text"]) {
      await assertRejects(
        () => gpu.loadNpy(`${folder.path}/${name}.npy`),
        NumpyError,
        "its elements are",
      );
    }
  }));
