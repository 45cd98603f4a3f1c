// Saved models: the same bytes as the format's own library writes, and nothing half-done.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { DeviceBuffer } from "../../../../src/buffers/device_buffer.ts";
import type { TensorEntry } from "../../../../src/interop/safetensors/header.ts";
import { readSafetensorsHeader } from "../../../../src/interop/safetensors/read_header.ts";
import { saveSafetensors } from "../../../../src/interop/safetensors/save.ts";
import { assertSameBytes, patternBytes } from "../../../support/contents.ts";
import { testOnTwoDevices } from "../../../support/driver.ts";
import { openWithSmallRing } from "../../../support/files.ts";
import { TYPES_FIXTURE, WIDE_FIXTURE } from "../../../support/safetensors/files.ts";
import { TemporaryFolder } from "../../../support/temporary_folder.ts";
import { inTurn } from "../../../support/test_unless.ts";
import { CaughtWarnings } from "../../../support/warnings.ts";
import { checkNothingLeft, testOnDevice, withDevice } from "../../../support/with_device.ts";

Deno.test("saveSafetensors() writes the bytes that the format's own library writes", async () => {
  using folder = new TemporaryFolder();
  await withDevice(async (gpu) => {
    using model = await gpu.loadSafetensors(TYPES_FIXTURE);
    const shuffled = [...model].reverse();
    const path = folder.pathOf("saved.safetensors");
    await saveSafetensors(path, shuffled, { metadata: model.metadata });
    assertEquals(Deno.readFileSync(path), Deno.readFileSync(TYPES_FIXTURE));
  });
});

Deno.test("saveSafetensors() saves large tensors byte for byte and reports progress", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("large.safetensors");
  const values = patternBytes(7_000_003);
  await withDevice(async (gpu) => {
    using large = await gpu.upload(values);
    using small = await gpu.upload(new Float32Array([1, 2]), { shape: [2, 1] });
    const steps: number[] = [];
    const onProgress = (doneBytes: number, totalBytes: number) => steps.push(doneBytes, totalBytes);
    await saveSafetensors(path, { large, small }, { onProgress });
    assertEquals(steps.slice(-2), [7_000_011, 7_000_011]);
    using model = await gpu.loadSafetensors(path);
    assertEquals(await model.tensor("large", "uint8").download(), values);
    assertEquals([...model.tensor("small").shape], [2, 1]);
  });
});

testOnDevice("saveSafetensors() saves every kind of buffer", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("kinds.safetensors");
  using pinned = gpu.pinned("float32", 2).fill(1);
  using managed = gpu.managed("float32", 2).fill(2);
  using lazy = gpu.lazy("float32", 2).fill(3);
  using staged = gpu.staged("float32", 2).fill(4);
  using growable = gpu.growable("float32", { reserveSize: "2 MiB" }).resize(2).fill(5);
  await gpu.saveSafetensors(path, { pinned, managed, lazy, staged, growable });
  using model = await gpu.loadSafetensors(path);
  const saved = await Promise.all([...model].map(async ([name, x]) => [name, await x.at(1)]));
  assertEquals(Object.fromEntries(saved), {
    pinned: 1,
    managed: 2,
    lazy: 3,
    staged: 4,
    growable: 5,
  });
});

Deno.test("saveSafetensors() saves no tensors at all", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("empty.safetensors");
  await saveSafetensors(path, {});
  assertEquals((await readSafetensorsHeader(path)).tensors, []);
});

testOnDevice("saveSafetensors() refuses names that the file could not keep apart", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("names.safetensors");
  using a = await gpu.upload(Uint8Array.of(1));
  const twice: [string, DeviceBuffer][] = [["a", a], ["a", a]];
  await assertRejects(() => saveSafetensors(path, twice), RangeError, "it occurs twice");
  await assertRejects(() => saveSafetensors(path, { __metadata__: a }), RangeError, "keeps it");
  assertEquals([...Deno.readDirSync(folder.path)], []);
});

Deno.test(
  inTurn("saveSafetensors() saves many small tensors side by side, and large ones among them"),
  async () => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("many.safetensors");
    using gpu = openWithSmallRing();
    await checkNothingLeft(gpu, async () => {
      using memory = new DisposableStack();
      const tensors = new Map<string, DeviceBuffer<"uint8">>();
      for (let i = 0; i < 1500; i++) {
        const byteLength = i % 500 === 7 ? 3_000_001 : 4096 + (i % 3) * 4097;
        const bytes = patternBytes(byteLength, i);
        tensors.set(`t${i}`, memory.use(await gpu.upload(bytes)));
      }
      const steps: number[] = [];
      await saveSafetensors(path, tensors, {
        onProgress: (done, total) => steps.push(done, total),
      });
      const { tensors: entries } = await readSafetensorsHeader(path);
      const totalBytes = entries.reduce((sum, { byteLength }) => sum + byteLength, 0);
      assertEquals(steps.slice(-2), [totalBytes, totalBytes]);
      const file = Deno.readFileSync(path).subarray(-totalBytes);
      for (const { name, byteOffset, byteLength } of entries) {
        const expected = patternBytes(byteLength, Number(name.slice(1)));
        assertSameBytes(file.subarray(byteOffset, byteOffset + byteLength), expected);
      }
    });
  },
);

testOnTwoDevices("saveSafetensors() saves two devices' buffers into one file", async (one, two) => {
  using folder = new TemporaryFolder();
  for (const byteLength of [1000, 2 ** 20 + 1]) {
    const path = folder.pathOf(`${byteLength}.safetensors`);
    using memory = new DisposableStack();
    const tensors: [string, DeviceBuffer<"uint8">][] = [];
    for (const [i, gpu] of [one, two, two, one, two].entries()) {
      const bytes = patternBytes(byteLength + i, i);
      tensors.push([`t${i}`, memory.use(await gpu.upload(bytes))]);
    }
    await saveSafetensors(path, tensors);
    using model = memory.use(await one.loadSafetensors(path));
    for (let i = 0; i < tensors.length; i++) {
      const bytes = await model.tensor(`t${i}`, "uint8").download();
      assertSameBytes(bytes, patternBytes(byteLength + i, i));
    }
  }
});

Deno.test("saveSafetensors() replaces the file that its own model was loaded from", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("model.safetensors");
  Deno.copyFileSync(TYPES_FIXTURE, path);
  await withDevice(async (gpu) => {
    using model = await gpu.loadSafetensors(path);
    await saveSafetensors(path, model, { metadata: model.metadata });
    assertEquals(Deno.readFileSync(path), Deno.readFileSync(TYPES_FIXTURE));
  });
});

Deno.test("saveSafetensors() in place has no header before it has its tensors", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("model.safetensors", Deno.readFileSync(TYPES_FIXTURE));
  using gpu = openWithSmallRing();
  await checkNothingLeft(gpu, async () => {
    using a = gpu.zeros("uint8", 24 * 2 ** 20);
    let refusals = 0;
    const onProgress = () => {
      const start = Deno.readFileSync(path).subarray(0, 8);
      if (start.every((byte) => byte === 0)) refusals++;
    };
    await saveSafetensors(path, { a }, { inPlace: true, onProgress });
    assertEquals(refusals > 1, true);
    assertEquals((await readSafetensorsHeader(path)).tensors.length, 1);
  });
});

testOnDevice("saveSafetensors() saves a loaded model as it is", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("x.safetensors");
  for (const fixture of [WIDE_FIXTURE, TYPES_FIXTURE]) {
    using model = await gpu.loadSafetensors(fixture);
    const before = await readSafetensorsHeader(fixture);
    for (const tensors of [model, Object.fromEntries(model)]) {
      await saveSafetensors(path, tensors, { metadata: model.metadata });
      const { tensors: saved } = await readSafetensorsHeader(path);
      const byName = (entries: readonly TensorEntry[]) =>
        entries.map(({ name, format, shape }) => ({ name, format, shape }))
          .sort((a, b) => a.name < b.name ? -1 : 1);
      assertEquals(byName(saved), byName(before.tensors));
    }
    await saveSafetensors(path, model);
    assertEquals({ ...(await readSafetensorsHeader(path)).metadata }, { ...before.metadata });
    using again = await gpu.loadSafetensors(path);
    for (const [name, x] of model) assert(await x.equals(again.tensor(name)), name);
    await saveSafetensors(path, model, { metadata: {} });
    assertEquals((await readSafetensorsHeader(path)).metadata, {});
  }
});

testOnDevice(
  "saveSafetensors() saves elements in the formats that the program names",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("x.safetensors");
    using w = gpu.zeros("uint8", [2, 6]);
    using c = gpu.zeros("float32", [3, 2]);
    const formats = { f4: "F4", f6: "F6_E3M2", f8: "F8_E4M3", c: "C64" } as const;
    await saveSafetensors(path, { f4: w, f6: w, f8: w, plain: w, c }, { formats, tied: "each" });
    const { tensors } = await readSafetensorsHeader(path);
    const found = Object.fromEntries(
      tensors.map(({ name, format, shape }) => [name, [format, shape]]),
    );
    assertEquals(found, {
      c: ["C64", [3]],
      f8: ["F8_E4M3", [2, 6]],
      plain: ["U8", [2, 6]],
      f6: ["F6_E3M2", [2, 8]],
      f4: ["F4", [2, 12]],
    });
    const before = Deno.readFileSync(path);
    const wrong: readonly (readonly [Record<string, unknown>, string])[] = [
      [{ w: "F8" }, '"w" has the format "F8", which is unknown'],
      [{ w: 8 }, "the number 8, which is unknown"],
      [{ w: "F32" }, "cannot be F32: it is uint8, F32 is held as float32"],
      [{ c: "F4" }, "cannot be F4: it is float32"],
      [{ odd: "F6_E2M3" }, "its last axis of 2 bytes is no whole number of F6_E2M3"],
      [{ scalar: "F4" }, "its last axis of no bytes"],
      [{ flat: "C64" }, "its last axis is 3, C64 has two floats there"],
      [{ v: "F4" }, 'formats name "v", which is no tensor of it'],
    ];
    using odd = gpu.zeros("uint8", [3, 2]);
    using scalar = gpu.zeros("uint8", []);
    using flat = gpu.zeros("float32", 3);
    for (const [named, words] of wrong) {
      const options = { formats: named as never };
      const save = () => saveSafetensors(path, { w, c, odd, scalar, flat }, options);
      await assertRejects(save, Error, words);
    }
    assertEquals(Deno.readFileSync(path), before);
  },
);

testOnDevice(
  "saveSafetensors() says that tensors are one memory, or saves it once",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("x.safetensors");
    using embed = gpu.iota("float32", [2, 3]);
    using other = embed.view(1);
    using head = embed.as("float32");
    const tensors = { embed, head, other };
    {
      using warnings = new CaughtWarnings();
      await saveSafetensors(path, tensors);
      const [text = "", ...more] = warnings.texts;
      assertEquals(more, []);
      assertStringIncludes(text, '24 B twice: tensor "head" is the memory of "embed"');
      await saveSafetensors(path, tensors, { tied: "each" });
      assertEquals(warnings.texts.length, 1);
    }
    assertEquals((await readSafetensorsHeader(path)).tensors.length, 3);
    await saveSafetensors(path, tensors, { tied: "once", metadata: { format: "pt" } });
    const { tensors: saved, metadata } = await readSafetensorsHeader(path);
    assertEquals(saved.map(({ name }) => name), ["embed", "other"]);
    assertEquals({ ...metadata }, { head: "embed", format: "pt" });
  },
);
