// GGUF models on the device: files, parts of a model in several files, and loads that fail.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { GgufError, loadGguf } from "../../../../src/entries/gguf.ts";
import { realPathOf } from "../../../../src/disk/file_path.ts";
import { FileTurn } from "../../../../src/disk/file_turns.ts";
import { GGUF_FORMATS } from "../../../../src/interop/gguf/formats.ts";
import { DisposedError } from "../../../../src/words/errors.ts";
import { ggufOf, type GgufPart, textField, wholeField } from "../../../support/gguf/files.ts";
import { openPathsIn } from "../../../support/files.ts";
import { TemporaryFolder } from "../../../support/temporary_folder.ts";
import { testOnDevice } from "../../../support/with_device.ts";

/** A tensor of float32 with one value. */
function tensor(name: string, value: number, length = 4): GgufPart {
  const data = new Uint8Array(new Float32Array(length).fill(value).buffer);
  return { name, type: 0, sizes: [length], data };
}

/** One of several files. */
function part(number: number, count: number, tensors: readonly GgufPart[], total = 3): Uint8Array {
  const metadata = {
    "split.no": wholeField(number, 2),
    "split.count": wholeField(count, 2),
    "split.tensors.count": wholeField(total, 5),
    "general.name": textField(`part ${number}`),
  };
  return ggufOf({ metadata, tensors });
}

function writeParts(folder: TemporaryFolder, files: readonly Uint8Array[]): string {
  for (const [at, file] of files.entries()) {
    folder.write(`m-0000${at + 1}-of-0000${files.length}.gguf`, file);
  }
  return folder.pathOf(`m-00001-of-0000${files.length}.gguf`);
}

testOnDevice(
  "loadGguf() puts a file into one block, and quantized tensors as their bytes",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const data = Uint8Array.from({ length: 3 * 2 * 34 }, (_, i) => i);
    const blocks = { name: "q", type: 8, sizes: [64, 3], data };
    const path = folder.write("a.gguf", ggufOf({ tensors: [tensor("odd", 1, 3), blocks] }));
    using model = await loadGguf(path, gpu);
    assertEquals(model.names, ["odd", "q"]);
    assertEquals(new Set([...model].map(([, { storageId }]) => storageId)).size, 1);
    assertEquals([model.format("q"), model.format("odd")], ["Q8_0", "F32"]);
    const held = model.tensor("q", "uint8");
    assertEquals([...held.shape], [3, 68]);
    assertEquals(await held.download(), data);
    const { shape, blockLength, blockBytes } = model.entry("q");
    assertEquals([[...shape], blockLength, blockBytes], [[3, 64], 32, 34]);
    assertEquals([...await model.tensor("odd", "float32").download()], [1, 1, 1]);
    assertEquals(`${model}`, "GgufModel(2 tensors, 256 B)");
    assertEquals(gpu.live().objects.map(({ name }) => name), ["a.gguf"]);
    assertThrows(() => model.tensor("q", "float32"), TypeError, "it is uint8");
    assertThrows(() => model.entry("none"), RangeError, 'such as "odd", "q"');
    model.dispose();
    assertThrows(() => model.tensor("q"), DisposedError);
    assertThrows(() => model.entry("q"), DisposedError);
  },
);

testOnDevice("loadGguf() loads what the filter chooses, and no more", async (gpu) => {
  using folder = new TemporaryFolder();
  const tensors = [tensor("a", 1), tensor("b", 2, 5), tensor("c", 3)];
  const path = folder.write("a.gguf", ggufOf({ tensors }));
  let doneBytes = 0;
  using model = await loadGguf(path, gpu, {
    filter: ({ name }) => name !== "b",
    label: "some",
    onProgress: (done) => doneBytes = done,
    cache: "drop",
  });
  assertEquals(model.names, ["a", "c"]);
  assertEquals(doneBytes, 2 * 32);
  assertEquals([...await model.tensor("c", "float32").download()], [3, 3, 3, 3]);
  assertEquals(gpu.live().objects.map(({ name }) => name), ["some"]);
});

testOnDevice(
  "loadGguf() loads tensors whose files leave gaps, and align them little or much",
  async (gpu) => {
    using folder = new TemporaryFolder();
    for (const alignment of [1, 2, 8, 256, 4096]) {
      const odd = { name: "odd", type: 24, sizes: [3], data: Uint8Array.of(1, 2, 3) };
      const metadata = { "general.alignment": wholeField(alignment) };
      const tensors = [odd, tensor("wide", 0.5, 2), { ...odd, name: "last" }];
      const path = folder.write("a.gguf", ggufOf({ alignment, metadata, tensors }));
      using model = await loadGguf(path, gpu);
      assertEquals([...await model.tensor("odd", "int8").download()], [1, 2, 3]);
      assertEquals([...await model.tensor("wide", "float32").download()], [0.5, 0.5]);
      assertEquals([...await model.tensor("last", "int8").download()], [1, 2, 3]);
      assertEquals(model.tensor("wide").ptr % 4n, 0n);
    }
  },
);

testOnDevice(
  "loadGguf() loads all files of a model, and the metadata of the first",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const files = [part(0, 2, [tensor("a", 1)]), part(1, 2, [tensor("b", 2), tensor("c", 3)])];
    writeParts(folder, files);
    using model = await loadGguf(folder.pathOf("m-00002-of-00002.gguf"), gpu);
    assertEquals(model.names, ["a", "b", "c"]);
    assertEquals(model.metadata["general.name"], "part 0");
    assertEquals([...await model.tensor("b", "float32").download()], [2, 2, 2, 2]);
    assertEquals(openPathsIn(folder), []);
  },
);

testOnDevice("loadGguf() loads a file that is whole, whatever its name", async (gpu) => {
  using folder = new TemporaryFolder();
  for (
    const name of [
      "m-00001-of-00004.gguf",
      "m-00000-of-00002.gguf",
      "m-00009-of-00002.gguf",
      "blob",
    ]
  ) {
    const tensors = [tensor("a", 1)];
    for (const file of [ggufOf({ tensors }), part(0, 0, tensors), part(0, 1, tensors)]) {
      using model = await loadGguf(folder.write(name, file), gpu);
      assertEquals(model.names, ["a"]);
    }
  }
});

testOnDevice(
  "loadGguf() refuses files that do not belong together, and keeps nothing",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const [a, b] = [tensor("a", 1), tensor("b", 2)];
    const refused = async (files: readonly Uint8Array[], reason: string) => {
      await assertRejects(() => loadGguf(writeParts(folder, files), gpu), GgufError, reason);
      assertEquals(openPathsIn(folder), []);
    };
    await refused([part(0, 2, [a], 2), part(1, 2, [a], 2)], 'tensor "a" is in m-00001');
    await refused(
      [part(0, 2, [a]), part(1, 2, [b])],
      "the model has 3 tensors by its metadata, and its files have 2",
    );
    await refused(
      [part(1, 2, [a]), part(1, 2, [b])],
      "it is part 1 of 2 by its metadata, and part 0 of 2",
    );
    await refused([part(0, 2, [a]), part(1, 3, [b])], "it is part 1 of 3 by its metadata");
    await refused([part(0, 2, [a]), ggufOf({ tensors: [b] })], "it is part undefined");
    const alone = folder.write("alone.gguf", part(0, 2, [a]));
    await assertRejects(() => loadGguf(alone, gpu), GgufError, "it is one of 2 files of a model");
    await refused([part(0, 3, [a]), part(1, 3, [b])], "it is one of 3 files of a model");
    Deno.removeSync(
      writeParts(folder, [part(0, 2, [a]), part(1, 2, [b])]).replace("00001-", "00002-"),
    );
    const path = folder.pathOf("m-00001-of-00002.gguf");
    await assertRejects(() => loadGguf(path, gpu), Deno.errors.NotFound, "m-00002-of-00002.gguf");
  },
);

testOnDevice(
  "loadGguf() keeps nothing when it is aborted, or its memory is refused",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.write("a.gguf", ggufOf({ tensors: [tensor("a", 1, 2 ** 20)] }));
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    assertEquals(await loadGguf(path, gpu, { signal }).catch((error) => error), reason);
    const failing = new AbortController();
    const onProgress = () => failing.abort(reason);
    const found = await loadGguf(path, gpu, { signal: failing.signal, onProgress })
      .then((model) => model.dispose(), (error) => error);
    assertEquals(found === undefined || found === reason, true);
    gpu.limit(2 ** 20);
    await assertRejects(() => loadGguf(path, gpu), Error, "limit");
    assertEquals(openPathsIn(folder), []);
  },
);

testOnDevice("loadGguf() has its place in the order of a file's calls", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.write("a.gguf", ggufOf({ tensors: [tensor("a", 1)] }));
  using other = await gpu.upload(new Uint8Array(ggufOf({ tensors: [tensor("a", 7)] })));
  const before = loadGguf(path, gpu);
  const written = other.writeFile(path);
  const after = loadGguf(path, gpu);
  using first = await before;
  using last = await after;
  await written;
  assertEquals((await first.tensor("a", "float32").download())[0], 1);
  assertEquals((await last.tensor("a", "float32").download())[0], 7);
});

testOnDevice(
  "loadGguf() loads every type that Python's library wrote, byte for byte",
  async (gpu) => {
    using model = await loadGguf(new URL("../../../support/gguf/types.gguf", import.meta.url), gpu);
    assertEquals(model.size, 33);
    assertEquals(model.metadata["tokenizer.ggml.tokens"], ["a", "größe", ""]);
    for (const [number, [name, blockLength, blockBytes]] of Object.entries(GGUF_FORMATS)) {
      if (name === "Q8_1") continue; // the library has another size for it than ggml
      const bytes = Uint8Array.from({ length: 2 * blockBytes }, (_, i) => i * 7 + Number(number));
      assertEquals(await model.tensor(name).as("uint8").download(), bytes);
      assertEquals([model.format(name), [...model.entry(name).shape]], [name, [2, blockLength]]);
    }
  },
);

testOnDevice("loadGguf() claims no parts behind the first that is missing", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.write("m-00002-of-00300.gguf", part(1, 300, [tensor("a", 1)]));
  const loading = loadGguf(path, gpu);
  using later = new FileTurn(realPathOf(folder.pathOf("m-00003-of-00300.gguf")), "change");
  assert(later.isDue);
  await assertRejects(() => loading, Deno.errors.NotFound, "m-00001-of-00300.gguf");
  assertEquals(openPathsIn(folder), []);
});
