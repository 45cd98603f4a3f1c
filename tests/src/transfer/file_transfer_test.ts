// Memory and files while a transfer is about to begin: neither is lost by what happens meanwhile.

import { assert, assertEquals, assertRejects } from "@std/assert";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import { saveSafetensors } from "../../../src/interop/safetensors/save.ts";
import { assertHoldsOnly, assertSameBytes, patternBytes } from "../../support/contents.ts";
import { countedBytes, openWithSmallRing } from "../../support/files.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { checkNothingLeft, testOnDevice, withDevice } from "../../support/with_device.ts";

Deno.test("DeviceBuffer.writeFile() writes all bytes of a buffer that is disposed at once", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("small");
  await withDevice(async (gpu) => {
    const x = await gpu.upload(patternBytes(1000));
    const pending = x.writeFile(path);
    x.dispose();
    using other = gpu.zeros("uint8", 1000);
    await pending;
    assertSameBytes(Deno.readFileSync(path), patternBytes(1000));
    await other.upload(patternBytes(1000));
    assertSameBytes(await other.download(), patternBytes(1000));
  });
});

Deno.test("DeviceBuffer.writeFile() writes more than the ring holds of a disposed buffer", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("large");
  const bytes = countedBytes(24 * 2 ** 20);
  using gpu = openWithSmallRing();
  await checkNothingLeft(gpu, async () => {
    const x = await gpu.upload(bytes);
    const pending = x.writeFile(path);
    x.dispose();
    using _other = gpu.zeros("uint8", bytes.byteLength);
    await pending;
    assertSameBytes(Deno.readFileSync(path), bytes);
  });
});

testOnDevice("saveSafetensors() saves all of buffers that are disposed at once", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("saved.safetensors");
  const many = new Map<string, DeviceBuffer<"uint8">>();
  for (let i = 0; i < 9; i++) many.set(`t${i}`, gpu.zeros("uint8", 50).fill(i));
  const pending = saveSafetensors(path, many);
  for (const buffer of many.values()) buffer.dispose();
  await pending;
  using model = await gpu.loadSafetensors(path);
  for (const [name, buffer] of model) {
    assertEquals(await buffer.download(), new Uint8Array(50).fill(Number(name.slice(1))));
  }
  assertEquals(model.size, 9);
});

Deno.test("DeviceBuffer.writeFile() leaves a good file when it was aborted before", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("good", Uint8Array.of(1, 2, 3));
  const signal = AbortSignal.abort();
  await withDevice(async (gpu) => {
    using x = gpu.zeros("uint8", 10);
    await assertRejects(() => x.writeFile(path, { signal }), DOMException, "abort");
    await assertRejects(() => x.writeFile(path, { signal, fileOffset: 8 }), DOMException, "abort");
    await assertRejects(() => x.writeFile(folder.pathOf("new"), { signal }), DOMException, "abort");
    assertEquals(Deno.readFileSync(path), Uint8Array.of(1, 2, 3));
    assertEquals([...Deno.readDirSync(folder.path)].map(({ name }) => name), ["good"]);
  });
});

testOnDevice("writeFile() to one path takes turns: an aborted one costs no file", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("x.bin");
  using a = gpu.zeros("uint8", 4096).fill(1);
  using b = gpu.zeros("uint8", 4096).fill(2);
  const controller = new AbortController();
  const aborted = a.writeFile(path, {
    signal: controller.signal,
    onProgress: () => controller.abort(),
  });
  const written = b.writeFile(path);
  await Promise.allSettled([aborted]);
  await written;
  assertHoldsOnly(await Deno.readFile(path), 2);
});

testOnDevice("writeFile() goes on when its stream is disposed meanwhile", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("x.bin");
  Deno.writeTextFileSync(path, "good");
  using a = gpu.zeros("uint8", 4096);
  const stream = gpu.createStream();
  a.fill(7, { stream });
  const written = a.writeFile(path, { stream });
  stream.dispose();
  await written;
  assertHoldsOnly(await Deno.readFile(path), 7);
});

Deno.test("writeFile() that is aborted at any moment leaves the old file, or has written the new one", () =>
  withDevice(async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("x.bin");
    using a = gpu.zeros("uint8", 4096);
    for (let turns = 0; turns < 12; turns++) {
      Deno.writeTextFileSync(path, "good");
      const controller = new AbortController();
      const written = a.writeFile(path, { signal: controller.signal }).then(
        () => true,
        () => false,
      );
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      controller.abort();
      const isWritten = await written;
      assert(!isWritten || turns > 0);
      assertEquals(Deno.readTextFileSync(path), isWritten ? "\0".repeat(4096) : "good");
    }
  }));
