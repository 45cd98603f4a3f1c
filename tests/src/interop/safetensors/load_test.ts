// Models on the device: files of the format's own library, shards, filters, and loads that fail.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { CudaDevice } from "../../../../src/device/device.ts";
import { SafetensorsError } from "../../../../src/interop/safetensors/header.ts";
import { readSafetensorsHeader } from "../../../../src/interop/safetensors/read_header.ts";
import { saveSafetensors } from "../../../../src/interop/safetensors/save.ts";
import { DisposedError } from "../../../../src/words/errors.ts";
import { patternBytes } from "../../../support/contents.ts";
import { testDriver } from "../../../support/driver.ts";
import { faultyDriver } from "../../../support/faulty_driver.ts";
import { makePipe, openPathsIn } from "../../../support/files.ts";
import { deviceAt } from "../../../support/parts_scene.ts";
import { fileOf, TYPES_FIXTURE, WIDE_FIXTURE } from "../../../support/safetensors/files.ts";
import { TemporaryFolder } from "../../../support/temporary_folder.ts";
import { testOnDevice, withDevice } from "../../../support/with_device.ts";

Deno.test("gpu.loadSafetensors() loads every type that the format's own library wrote", () =>
  withDevice(async (gpu) => {
    using model = await gpu.loadSafetensors(TYPES_FIXTURE);
    assertEquals({ ...model.metadata }, { made_by: "safetensors" });
    assertEquals(model.size, 16);
    const small = ["uint8", "int8", "int16", "uint16", "float16", "int32", "uint32", "float32"];
    for (const dtype of [...small, "float64"]) {
      const tensor = model.tensor(dtype);
      assertEquals([tensor.dtype, [...tensor.shape]], [dtype, [2, 3]]);
      assertEquals([...await tensor.download() as Iterable<unknown>], [0, 1, 2, 3, 4, 5]);
    }
    for (const dtype of ["int64", "uint64"] as const) {
      const values = await model.tensor(dtype, dtype).download();
      assertEquals([...values], [0n, 1n, 2n, 3n, 4n, 5n]);
    }
    assertEquals([...await model.tensor("bool", "bool").download()], [1, 0, 1]);
    assertEquals([...await model.tensor("bfloat16", "bfloat16").download()], [0.5, -1.5, 3]);
    assertEquals([...await model.tensor("scalar", "float32").download()], [2.5]);
    assertEquals([...model.tensor("scalar").shape], []);
    assertEquals([...model.tensor("empty").shape], [0, 4]);
    const signs = await model.tensor('größe/"α"', "int64").download();
    assertEquals([...signs], [-1n, 2n ** 62n]);
  }));

Deno.test("gpu.loadSafetensors() loads types that no typed array holds", () =>
  withDevice(async (gpu) => {
    using model = await gpu.loadSafetensors(WIDE_FIXTURE);
    assertEquals(model.format("weight"), "F8_E4M3");
    const weight = model.tensor("weight", "float8_e4m3fn");
    assertEquals([...weight.shape], [2, 2]);
    assertEquals([...await weight.download(new Uint8Array(4))], [56, 184, 0, 126]);
    assertEquals([...await weight.download()], [1, -1, 0, 448]);
    assertEquals(model.format("scale"), "F8_E8M0");
    assertEquals(model.tensor("scale").dtype, "float8_e8m0fnu");
    assertEquals([...model.tensor("phase", "complex64").shape], [2]);
    assertEquals(await model.tensor("phase", "complex64").at(1), { re: -3.5, im: 0.25 });
    assertEquals(model.format("packed"), "F4");
    const packed = model.tensor("packed", "float4_e2m1fn");
    assertEquals([packed.shape, await packed.view(1).at(2)], [[2, 4], 4]);
    assertEquals([...await packed.as("uint8").download()], [0x10, 0x32, 0x54, 0x76]);
  }));

testOnDevice("gpu.loadSafetensors() puts a file into one block", async (gpu) => {
  using model = await gpu.loadSafetensors(TYPES_FIXTURE, { label: "weights" });
  assertEquals(new Set([...model].map(([, tensor]) => tensor.storageId)).size, 1);
  assertEquals(gpu.live().objects.map(({ name }) => name), ["weights"]);
});

testOnDevice("gpu.loadSafetensors() aligns tensors that the file does not", async (gpu) => {
  using folder = new TemporaryFolder();
  const header = {
    odd: { dtype: "U8", shape: [3], data_offsets: [0, 3] },
    wide: { dtype: "F64", shape: [1], data_offsets: [3, 11] },
  };
  const data = new Uint8Array(11);
  data.set([1, 2, 3]);
  data.set(new Uint8Array(Float64Array.of(0.25).buffer), 3);
  const path = folder.write("odd.safetensors", fileOf({ header, data }));
  using model = await gpu.loadSafetensors(path);
  assertEquals([...await model.tensor("odd", "uint8").download()], [1, 2, 3]);
  assertEquals([...await model.tensor("wide", "float64").download()], [0.25]);
  assertEquals(model.tensor("wide").ptr % 8n, 0n);
});

testOnDevice("gpu.loadSafetensors() loads what the filter chooses, and no more", async (gpu) => {
  const steps: number[] = [];
  using model = await gpu.loadSafetensors(TYPES_FIXTURE, {
    filter: ({ name, format }) => format === "F32" && name !== "empty" || name === "bool",
    onProgress: (doneBytes, totalBytes) => steps.push(doneBytes, totalBytes),
  });
  assertEquals(model.names, ["float32", "scalar", "bool"]);
  assert(model.byteLength < 512);
  assertEquals([...await model.tensor("bool", "bool").download()], [1, 0, 1]);
  assertEquals(steps.slice(-2), [31, 31]);
  const filter = () => Promise.resolve(false) as never;
  const words = "a function that returns a promise";
  await assertRejects(() => gpu.loadSafetensors(TYPES_FIXTURE, { filter }), TypeError, words);
});

Deno.test("gpu.loadSafetensors() loads large tensors through the ring, byte for byte", async () => {
  using folder = new TemporaryFolder();
  const data = patternBytes(9_000_001);
  const header = {
    a: { dtype: "U8", shape: [5_000_000], data_offsets: [0, 5_000_000] },
    b: { dtype: "U8", shape: [4_000_001], data_offsets: [5_000_000, 9_000_001] },
  };
  const path = folder.write("large.safetensors", fileOf({ header, data }));
  await withDevice(async (gpu) => {
    using model = await gpu.loadSafetensors(path);
    assertEquals(await model.tensor("a", "uint8").download(), data.slice(0, 5_000_000));
    assertEquals(await model.tensor("b", "uint8").download(), data.slice(5_000_000));
  });
});

Deno.test("gpu.loadSafetensors() loads the shards of an index, each tensor once", async () => {
  using folder = new TemporaryFolder();
  folder.write("1.safetensors", shard({ a: 1, both: 2 }));
  folder.write("2.safetensors", shard({ b: 3, both: 4 }));
  const weight_map = { a: "1.safetensors", both: "2.safetensors", b: "2.safetensors" };
  const index = writeIndex(folder, { metadata: { total_size: 3 }, weight_map });
  await withDevice(async (gpu) => {
    using model = await gpu.loadSafetensors(index);
    const values = new Map<string, number[]>();
    for (const [name, tensor] of model) {
      values.set(name, [...await tensor.download() as Uint8Array]);
    }
    assertEquals(values, new Map([["a", [1]], ["b", [3]], ["both", [4]]]));
    assertEquals(gpu.live().count, 2);
  });
});

testOnDevice("gpu.loadSafetensors() refuses an index that does not fit its files", async (gpu) => {
  using folder = new TemporaryFolder();
  folder.write("1.safetensors", shard({ a: 1 }));
  const load = (index: unknown) => gpu.loadSafetensors(writeIndex(folder, index));
  const refuses = (index: unknown, says: string) =>
    assertRejects(() => load(index), SafetensorsError, says);
  await refuses({ weight_map: { b: "1.safetensors" } }, `expects tensor "b" in it`);
  await refuses({ weight_map: { a: "../1.safetensors" } }, "outside its folder");
  await refuses({ weight_map: { a: "/1.safetensors" } }, "outside its folder");
  await refuses({ weight_map: { a: 1 } }, "no weight_map");
  await refuses([], "no weight_map");
  await assertRejects(() => load({ weight_map: { a: "2.safetensors" } }), Deno.errors.NotFound);
});

Deno.test("gpu.loadSafetensors() follows links, of which a hub's cache consists", async () => {
  using folder = new TemporaryFolder();
  for (const name of ["blobs", "snapshots", "snapshots/main"]) Deno.mkdirSync(folder.pathOf(name));
  folder.write("blobs/1", shard({ a: 1 }));
  const text = JSON.stringify({ weight_map: { a: "1.safetensors" } });
  folder.write("blobs/2", new TextEncoder().encode(text));
  const index = folder.pathOf("snapshots/main/model.safetensors.index.json");
  Deno.symlinkSync("../../blobs/1", folder.pathOf("snapshots/main/1.safetensors"));
  Deno.symlinkSync("../../blobs/2", index);
  await withDevice(async (gpu) => {
    using model = await gpu.loadSafetensors(index);
    assertEquals([...await model.tensor("a", "uint8").download()], [1]);
  });
});

Deno.test("gpu.loadSafetensors() refuses an index, and shards, that are no regular files", async () => {
  using folder = new TemporaryFolder();
  const pipe = await makePipe(folder, "pipe.json");
  await makePipe(folder, "pipe.safetensors");
  Deno.symlinkSync("/dev/zero", folder.pathOf("zero.json"));
  Deno.symlinkSync("/dev/zero", folder.pathOf("zero.safetensors"));
  await withDevice(async (gpu) => {
    const refuses = (path: string, message: string) =>
      assertRejects(() => gpu.loadSafetensors(path), TypeError, message);
    await refuses(pipe, "it is a pipe, expected a regular file");
    await refuses(folder.pathOf("zero.json"), "it is a device, expected a regular file");
    for (const file of ["pipe.safetensors", "zero.safetensors", "."]) {
      const index = writeIndex(folder, { weight_map: { a: file } });
      await refuses(index, "expected a regular file");
    }
    assertEquals(openPathsIn(folder), []);
  });
});

testOnDevice("gpu.loadSafetensors() refuses an index of another shape, in words", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("model.safetensors.index.json");
  const texts: readonly [text: string, message: string][] = [
    [`{"weight_map":{"a":"1","a":"2"}}`, `it has "a" twice`],
    [`{"weight_map":{},"weight_map":{}}`, `it has "weight_map" twice`],
    [`{"weight_map":{"a":"1"}`, "it is not JSON: "],
    [`{"weight_map":{"a":"1\\u0000"}}`, `it names "1\\u0000", which no file can be called`],
  ];
  for (const [text, message] of texts) {
    Deno.writeTextFileSync(path, text);
    await assertRejects(() => gpu.loadSafetensors(path), SafetensorsError, message);
  }
  Deno.truncateSync(path, 100_000_001);
  await assertRejects(() => gpu.loadSafetensors(path), SafetensorsError, "than the 100000000");
});

Deno.test("gpu.loadSafetensors() loads what earlier calls save, and not what later ones do", async () => {
  using folder = new TemporaryFolder();
  await withDevice(async (gpu) => {
    using first = await gpu.upload(Uint8Array.of(1));
    using second = await gpu.upload(Uint8Array.of(2));
    const path = folder.pathOf("1.safetensors");
    const index = writeIndex(folder, { weight_map: { a: "1.safetensors" } });
    const saved = [saveSafetensors(path, { a: first })];
    const loads = [gpu.loadSafetensors(path), gpu.loadSafetensors(index)];
    const header = readSafetensorsHeader(path);
    saved.push(saveSafetensors(path, { a: second }));
    loads.push(gpu.loadSafetensors([path]));
    await Promise.all(saved);
    const values: number[] = [];
    for (const load of loads) {
      using model = await load;
      values.push(...await model.tensor("a", "uint8").download());
    }
    assertEquals(values, [1, 1, 2]);
    assertEquals((await header).tensors.length, 1);
  });
});

Deno.test("gpu.loadSafetensors() of a folder loads the files that earlier calls save there", async () => {
  using folder = new TemporaryFolder();
  Deno.mkdirSync(folder.pathOf("model"));
  Deno.symlinkSync("model", folder.pathOf("link"));
  await withDevice(async (gpu) => {
    using a = gpu.zeros("float32", 4);
    const saves = ["a", "b"].map((name) =>
      gpu.saveSafetensors(folder.pathOf(`model/${name}.safetensors`), { [name]: a })
    );
    saves.push(a.writeFile(folder.pathOf("model/a.bin")));
    saves.push(gpu.saveSafetensors(folder.pathOf("c.safetensors"), { c: a }));
    const load = gpu.loadSafetensors(folder.pathOf("link"));
    saves.push(gpu.saveSafetensors(folder.pathOf("model/d.safetensors"), { d: a }));
    using model = await load;
    assertEquals(model.names.toSorted(), ["a", "b"]);
    await Promise.all(saves);
  });
});

Deno.test("gpu.loadSafetensors() refuses two files with a tensor of the same name", async () => {
  using folder = new TemporaryFolder();
  const paths = ["1.safetensors", "2.safetensors"].map((name) =>
    folder.write(name, shard({ a: 1 }))
  );
  await withDevice(async (gpu) => {
    await assertRejects(() => gpu.loadSafetensors(paths), SafetensorsError, `tensor "a" is in`);
  });
});

testOnDevice("gpu.loadSafetensors() leaves nothing when the second file is broken", async (gpu) => {
  using folder = new TemporaryFolder();
  const good = folder.write("1.safetensors", shard({ a: 1 }));
  const bad = folder.write("2.safetensors", shard({ b: 1 }).slice(0, -1));
  await assertRejects(() => gpu.loadSafetensors([good, bad]), SafetensorsError, "cut short");
});

Deno.test("gpu.loadSafetensors() leaves nothing when a copy fails, and works again", async () => {
  const { driver, setFault } = faultyDriver();
  await withDevice(async (gpu) => {
    setFault({ name: "cuMemcpyHtoDAsync_v2" });
    await assertRejects(() => gpu.loadSafetensors(TYPES_FIXTURE));
    setFault(undefined);
    using model = await gpu.loadSafetensors(TYPES_FIXTURE);
    assertEquals([...await model.tensor("scalar", "float32").download()], [2.5]);
  }, { driver });
});

testOnDevice("gpu.loadSafetensors() rejects with the signal's reason", async (gpu) => {
  const abort = new AbortController();
  const reason = new Error("enough");
  const load = gpu.loadSafetensors(TYPES_FIXTURE, { signal: abort.signal });
  abort.abort(reason);
  await assertRejects(() => load, Error, "enough");
});

Deno.test("SafetensorsModel.tensor() names what is not there and what has another type", () =>
  withDevice(async (gpu) => {
    using model = await gpu.loadSafetensors(WIDE_FIXTURE);
    assertThrows(() => model.tensor("wieght"), RangeError, `Cannot find tensor "wieght"`);
    const noText = () => model.tensor(Symbol("weight") as never);
    assertThrows(noText, RangeError, "Cannot find tensor a symbol: the model has ");
    assertThrows(() => model.tensor("weight", "float32"), TypeError, "it is float8_e4m3fn");
  }));

testOnDevice("SafetensorsModel.dispose() disposes every tensor", async (gpu) => {
  const model = await gpu.loadSafetensors(WIDE_FIXTURE);
  const weight = model.tensor("weight");
  model.dispose();
  model.dispose();
  assertEquals([model.disposed, weight.disposed], [true, true]);
  assertThrows(() => model.tensor("weight"), DisposedError, "SafetensorsModel(4 tensors");
});

Deno.test("readSafetensorsHeader() reads names and metadata without a device", async () => {
  const { tensors, metadata } = await readSafetensorsHeader(WIDE_FIXTURE);
  assertEquals(tensors.map(({ name }) => name), ["phase", "scale", "weight", "packed"]);
  assertEquals({ ...metadata }, {});
});

testOnDevice("readSafetensorsHeader() tells where a tensor lies in the file", async (gpu) => {
  const { tensors, dataOffset } = await readSafetensorsHeader(TYPES_FIXTURE);
  const { byteOffset = NaN } = tensors.find(({ name }) => name === "float32") ?? {};
  using row = gpu.lazy("float32", 3, {
    file: TYPES_FIXTURE,
    fileOffset: dataOffset + byteOffset,
  });
  assertEquals([...await row.download()], [0, 1, 2]);
});

/** A file of single bytes by name. */
function shard(values: Record<string, number>): Uint8Array {
  const names = Object.keys(values);
  const header = Object.fromEntries(names.map((name, i) => [
    name,
    { dtype: "U8", shape: [1], data_offsets: [i, i + 1] },
  ]));
  return fileOf({ header, data: Uint8Array.from(Object.values(values)) });
}

Deno.test("a model of a file without tensors is empty, and not disposed before its dispose()", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("x.safetensors", fileOf({ header: {} }));
  using gpus = CudaDevice.openMany([0], { driver: testDriver() });
  for (const list of [deviceAt(gpus, 0), gpus]) {
    const model = await list.loadSafetensors(path);
    assertEquals([model.size, model.disposed], [0, false]);
    assertThrows(() => model.tensor("a"), RangeError, "the model has 0");
    model.dispose();
    assertThrows(() => model.tensor("a"), DisposedError);
  }
});

function writeIndex(folder: TemporaryFolder, index: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(index));
  return folder.write("model.safetensors.index.json", bytes);
}

testOnDevice(
  "gpu.loadSafetensors() reads white space before the header, and writes none",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const header = ` \n\t{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`;
    const path = folder.write("x.safetensors", fileOf({ header, data: Uint8Array.of(3, 4) }));
    using model = await gpu.loadSafetensors(path);
    assertEquals(await model.tensor("x", "uint8").download(), Uint8Array.of(3, 4));
    await saveSafetensors(path, model);
    assertEquals(Deno.readFileSync(path)[8], "{".charCodeAt(0));
  },
);

testOnDevice(
  "gpu.loadSafetensors() reads headers up to the size that the program allows",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const header = `{"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`;
    const path = folder.write("x.safetensors", fileOf({ header }));
    const maxHeaderSize = header.length - 1;
    const words = `has ${header.length} bytes, more than the ${maxHeaderSize} allowed`
      .replace("has", "would have");
    for (const load of [gpu.loadSafetensors.bind(gpu), readSafetensorsHeader]) {
      await assertRejects(
        async () => void await load(path, { maxHeaderSize }),
        SafetensorsError,
        words,
      );
      await assertRejects(
        async () => void await load(path, { maxHeaderSize: "1 GiB" }),
        RangeError,
        "a text of the runtime has at most 512 MiB",
      );
    }
    using model = await gpu.loadSafetensors(path, { maxHeaderSize: header.length });
    assertEquals(model.names, ["x"]);
  },
);

testOnDevice(
  "gpu.loadSafetensors() names an index that Git LFS has left behind, and lists of nothing",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    folder.write("model.safetensors.index.json", pointer);
    const load = () => gpu.loadSafetensors(folder.path);
    await assertRejects(load, SafetensorsError, "no index of a model but a pointer of Git LFS");
    writeIndex(folder, { weight_map: {} });
    await assertRejects(load, SafetensorsError, "its weight_map names no tensors");
    await assertRejects(() => gpu.loadSafetensors([]), TypeError, "the list of its files is empty");
  },
);
