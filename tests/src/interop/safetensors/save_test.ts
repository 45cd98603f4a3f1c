// Saved models: the same bytes as the format's own library writes, and nothing half-done.

import { assertEquals, assertRejects } from "@std/assert";
import type { DeviceBuffer } from "../../../../src/buffers/device_buffer.ts";
import { readSafetensorsHeader } from "../../../../src/interop/safetensors/read_header.ts";
import { saveSafetensors } from "../../../../src/interop/safetensors/save.ts";
import { patternBytes } from "../../../support/contents.ts";
import { faultyDriver } from "../../../support/faulty_driver.ts";
import { FileFolder } from "../../../support/files.ts";
import { TYPES_FIXTURE } from "../../../support/safetensors/files.ts";
import { withDevice } from "../../../support/with_device.ts";

Deno.test("saveSafetensors() writes the bytes that the format's own library writes", async () => {
  using folder = new FileFolder();
  await withDevice(async (gpu) => {
    using model = await gpu.loadSafetensors(TYPES_FIXTURE);
    const shuffled = [...model].reverse();
    const path = folder.pathOf("saved.safetensors");
    await saveSafetensors(path, shuffled, { metadata: model.metadata });
    assertEquals(Deno.readFileSync(path), Deno.readFileSync(TYPES_FIXTURE));
  });
});

Deno.test("saveSafetensors() saves large tensors byte for byte and reports progress", async () => {
  using folder = new FileFolder();
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

Deno.test("saveSafetensors() saves no tensors at all", async () => {
  using folder = new FileFolder();
  const path = folder.pathOf("empty.safetensors");
  await saveSafetensors(path, {});
  assertEquals((await readSafetensorsHeader(path)).tensors, []);
});

Deno.test("saveSafetensors() refuses names that the file could not keep apart", async () => {
  using folder = new FileFolder();
  const path = folder.pathOf("names.safetensors");
  await withDevice(async (gpu) => {
    using a = await gpu.upload(Uint8Array.of(1));
    const twice: [string, DeviceBuffer][] = [["a", a], ["a", a]];
    await assertRejects(() => saveSafetensors(path, twice), RangeError, "it occurs twice");
    await assertRejects(() => saveSafetensors(path, { __metadata__: a }), RangeError, "keeps it");
    assertEquals([...Deno.readDirSync(folder.path)], []);
  });
});

Deno.test("saveSafetensors() leaves no file when a copy fails", async () => {
  using folder = new FileFolder();
  const { driver, setFault } = faultyDriver();
  await withDevice(async (gpu) => {
    using a = await gpu.upload(Uint8Array.of(1, 2, 3));
    setFault({ name: "cuMemcpyDtoHAsync_v2" });
    await assertRejects(() => saveSafetensors(folder.pathOf("a.safetensors"), { a }));
    setFault(undefined);
    assertEquals([...Deno.readDirSync(folder.path)], []);
  }, { driver });
});
