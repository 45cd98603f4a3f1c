// Tests for device memory into files: what is in the file then, and what a failure leaves of it.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { relative } from "node:path";
import { pathToFileURL as toFileUrl } from "node:url";
import { DisposedError } from "../../../src/words/errors.ts";
import { assertHoldsOnly, assertSameBytes, patternBytes } from "../../support/contents.ts";
import { openTestDevice } from "../../support/driver.ts";
import {
  countedBytes,
  makePipe,
  namesIn,
  openPathsIn,
  openWithSmallRing,
} from "../../support/files.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testOnDevice } from "../../support/with_device.ts";

testOnDevice("DeviceBuffer.writeFile() makes a file of the buffer's bytes", async (gpu) => {
  using folder = new TemporaryFolder();
  const values = new Float32Array([1, 2, 3]);
  using buffer = await gpu.upload(values);
  await buffer.writeFile(folder.pathOf("new"));
  assertEquals(await Deno.readFile(folder.pathOf("new")), new Uint8Array(values.buffer));
});

testOnDevice("DeviceBuffer.writeFile() replaces what a longer file held", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.write("old", new Uint8Array(100).fill(9));
  using buffer = await gpu.upload(new Uint8Array([1, 2]));
  await buffer.writeFile(path);
  assertEquals(await Deno.readFile(path), new Uint8Array([1, 2]));
});

testOnDevice("DeviceBuffer.writeFile() at an offset keeps what is around it", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.write("kept", new Uint8Array(6).fill(9));
  using buffer = await gpu.upload(new Uint8Array([1, 2]));
  await buffer.writeFile(path, { fileOffset: 3 });
  assertEquals(await Deno.readFile(path), new Uint8Array([9, 9, 9, 1, 2, 9]));
  await buffer.writeFile(path, { fileOffset: 8 });
  assertEquals(await Deno.readFile(path), new Uint8Array([9, 9, 9, 1, 2, 9, 0, 0, 1, 2]));
});

Deno.test("DeviceBuffer.writeFile() is finished by a call that blocks for what comes after it", async () => {
  using folder = new TemporaryFolder();
  using gpu = openTestDevice();
  const path = folder.pathOf("saved");
  const bytes = patternBytes(3 * 2 ** 20);
  using buffer = await gpu.upload(bytes);
  const saving = buffer.writeFile(path);
  buffer.fill(7);
  assertHoldsOnly(buffer.downloadSync(), 7);
  assertSameBytes(Deno.readFileSync(path), bytes);
  await saving;
  assertEquals(namesIn(folder), ["saved"]);
});

testOnDevice(
  "DeviceBuffer.writeFile() holds up no call that blocks, whenever that comes",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("saved");
    using buffer = await gpu.upload(patternBytes(100));
    for (let moments = 0; moments < 60; moments++) {
      const saving = [
        buffer.writeFile(path),
        buffer.subarray(0, 10).writeFile(path, { fileOffset: 90 }),
      ];
      for (let moment = 0; moment < moments; moment++) await undefined;
      buffer.fill(0);
      buffer.uploadSync(patternBytes(100));
      const expected = patternBytes(100);
      expected.copyWithin(90, 0, 10);
      assertEquals(Deno.readFileSync(path), expected, `after ${moments} moments`);
      await Promise.all(saving);
    }
  },
);

testOnDevice("DeviceBuffer.writeFile() writes a view's bytes alone", async (gpu) => {
  using folder = new TemporaryFolder();
  using buffer = await gpu.upload(patternBytes(50));
  await buffer.subarray(7, 12).writeFile(folder.pathOf("part"));
  assertEquals(await Deno.readFile(folder.pathOf("part")), patternBytes(50).slice(7, 12));
});

testOnDevice("DeviceBuffer.writeFile() of an empty buffer makes an empty file", async (gpu) => {
  using folder = new TemporaryFolder();
  using buffer = gpu.alloc("uint8", 0);
  await buffer.writeFile(folder.pathOf("empty"));
  assertEquals(await Deno.readFile(folder.pathOf("empty")), new Uint8Array());
});

Deno.test("DeviceBuffer.writeFile() moves more than the ring holds, and tells progress", async () => {
  using folder = new TemporaryFolder();
  using gpu = openWithSmallRing();
  const bytes = countedBytes(12 * 2 ** 20);
  using buffer = await gpu.upload(bytes);
  let last = 0;
  await buffer.writeFile(folder.pathOf("large"), { onProgress: (done) => last = done });
  assertSameBytes(await Deno.readFile(folder.pathOf("large")), bytes);
  assertEquals(last, bytes.byteLength);
});

Deno.test("DeviceBuffer.writeFile() waits for what another stream does with the buffer", async () => {
  using folder = new TemporaryFolder();
  using gpu = openTestDevice();
  using stream = gpu.createStream();
  using buffer = gpu.zeros("uint8", 64);
  buffer.fill(5, { stream });
  await buffer.writeFile(folder.pathOf("ordered"));
  assertEquals(await Deno.readFile(folder.pathOf("ordered")), new Uint8Array(64).fill(5));
});

Deno.test("DeviceBuffer.writeFile() leaves the old file and no other when it is aborted", async () => {
  using folder = new TemporaryFolder();
  using gpu = openWithSmallRing();
  using buffer = gpu.zeros("uint8", 24 * 2 ** 20);
  const path = folder.write("old", new Uint8Array(100).fill(9));
  const abort = new AbortController();
  const options = { signal: abort.signal, onProgress: () => abort.abort() };
  await assertRejects(() => buffer.writeFile(path, options), DOMException, "abort");
  assertEquals(Deno.readFileSync(path), new Uint8Array(100).fill(9));
  assertEquals(namesIn(folder), ["old"]);
  assertEquals(openPathsIn(folder), []);
});

Deno.test("DeviceBuffer.writeFile() at an offset gives a file its size back when it is aborted", async () => {
  using folder = new TemporaryFolder();
  using gpu = openWithSmallRing();
  using buffer = gpu.zeros("uint8", 24 * 2 ** 20);
  const path = folder.write("old", new Uint8Array(100).fill(9));
  const abort = new AbortController();
  const options = { signal: abort.signal, fileOffset: 100, onProgress: () => abort.abort() };
  await assertRejects(() => buffer.writeFile(path, options), DOMException, "abort");
  assertEquals(Deno.readFileSync(path), new Uint8Array(100).fill(9));
});

Deno.test("DeviceBuffer.writeFile() writes the file at the end of links, and keeps the links", async () => {
  using folder = new TemporaryFolder();
  using gpu = openTestDevice();
  Deno.mkdirSync(folder.pathOf("blobs"));
  const blob = folder.write("blobs/1", new Uint8Array(3));
  Deno.symlinkSync("blobs/1", folder.pathOf("snapshot"));
  Deno.symlinkSync("snapshot", folder.pathOf("latest"));
  Deno.symlinkSync("blobs/2", folder.pathOf("dangling"));
  using buffer = await gpu.upload(new Uint8Array([1, 2]));
  await buffer.writeFile(folder.pathOf("latest"));
  await buffer.writeFile(folder.pathOf("dangling"));
  assertEquals(Deno.readFileSync(blob), new Uint8Array([1, 2]));
  assertEquals(Deno.readFileSync(folder.pathOf("blobs/2")), new Uint8Array([1, 2]));
  assert(Deno.lstatSync(folder.pathOf("latest")).isSymlink);
  assertEquals(namesIn(folder), ["blobs", "dangling", "latest", "snapshot"]);
});

Deno.test("DeviceBuffer.writeFile() to one file takes turns however the path is spelled", async () => {
  using folder = new TemporaryFolder();
  using gpu = openWithSmallRing();
  Deno.mkdirSync(folder.pathOf("sub"));
  Deno.symlinkSync(folder.path, folder.pathOf("sub/link"));
  const path = folder.pathOf("file");
  const spellings = [
    path,
    relative(Deno.cwd(), path),
    `./${relative(Deno.cwd(), path)}`,
    `${folder.path}/sub/../file`,
    folder.pathOf("sub/link/file"),
    toFileUrl(path),
  ];
  using buffers = new DisposableStack();
  for (let round = 0; round < 5; round++) {
    const written = spellings.map((spelling, value) => {
      const buffer = buffers.use(gpu.zeros("uint8", 2 ** 21)).fill(value);
      return buffer.writeFile(spelling, round === 4 ? { inPlace: true } : {});
    });
    await Promise.all(written);
    const last = new Uint8Array(2 ** 21).fill(spellings.length - 1);
    assertSameBytes(Deno.readFileSync(path), last); // the last call wins
  }
});

Deno.test("DeviceBuffer.writeFile() takes a relative path from the folder of the call", async () => {
  using folder = new TemporaryFolder();
  using gpu = openTestDevice();
  using buffer = await gpu.upload(new Uint8Array([1, 2]));
  const before = Deno.cwd();
  try {
    Deno.chdir(folder.path);
    const first = buffer.writeFile("first");
    const second = buffer.writeFile("first", { fileOffset: 1 });
    Deno.chdir(before);
    await Promise.all([first, second]);
  } finally {
    Deno.chdir(before);
  }
  assertEquals(Deno.readFileSync(folder.pathOf("first")), new Uint8Array([1, 1, 2]));
});

testOnDevice("DeviceBuffer.writeFile() with sync leaves the same file", async (gpu) => {
  using folder = new TemporaryFolder();
  using buffer = await gpu.upload(new Uint8Array([1, 2]));
  await buffer.writeFile(folder.pathOf("new"), { sync: true });
  await buffer.writeFile(folder.pathOf("new"), { sync: true, fileOffset: 2 });
  await buffer.writeFile(folder.pathOf("other"), { sync: true, inPlace: true });
  assertEquals(Deno.readFileSync(folder.pathOf("new")), new Uint8Array([1, 2, 1, 2]));
  assertEquals(Deno.readFileSync(folder.pathOf("other")), new Uint8Array([1, 2]));
});

Deno.test("DeviceBuffer.writeFile() waits for another process only until it is aborted", async () => {
  using folder = new TemporaryFolder();
  using gpu = openTestDevice();
  using buffer = await gpu.upload(new Uint8Array([1, 2]));
  const path = folder.pathOf("file");
  const temporary = folder.write(".file.vramkit-saving", new Uint8Array(9));
  {
    using other = Deno.openSync(temporary, { write: true });
    other.lockSync(true);
    const signal = AbortSignal.timeout(30);
    await assertRejects(() => buffer.writeFile(path, { signal }), DOMException, "timeout");
    assertEquals(namesIn(folder), [".file.vramkit-saving"]);
  }
  await buffer.writeFile(path);
  assertEquals(namesIn(folder), ["file"]);
});

testOnDevice("DeviceBuffer.writeFile() refuses folders and pipes", async (gpu) => {
  using folder = new TemporaryFolder();
  using buffer = gpu.zeros("uint8", 10);
  await assertRejects(() => buffer.writeFile(folder.path), TypeError, "it is a folder");
  const none = folder.pathOf("none");
  for (const path of [`${none}/`, `${none}/.`, `${none}/..`, new URL(`file://${none}/`)]) {
    await assertRejects(() => buffer.writeFile(path), TypeError, "it names a folder");
  }
  assertEquals(namesIn(folder), []);
  const pipe = await makePipe(folder, "pipe");
  await assertRejects(() => buffer.writeFile(pipe), TypeError, "it is a pipe");
  await assertRejects(() => buffer.writeFile(pipe, { inPlace: true }), TypeError, "it is a pipe");
});

Deno.test("DeviceBuffer.writeFile() refuses a buffer that was disposed, and makes no file", async () => {
  using folder = new TemporaryFolder();
  using gpu = openTestDevice();
  const buffer = gpu.zeros("uint8", 10);
  buffer.dispose();
  await assertRejects(() => buffer.writeFile(folder.pathOf("none")), DisposedError);
  assertEquals([...Deno.readDirSync(folder.path)], []);
});

Deno.test("DeviceBuffer.writeFile() needs permission to write", {
  permissions: { read: true, write: false, ffi: true, env: true, sys: true },
}, async () => {
  using gpu = openTestDevice();
  using buffer = gpu.zeros("uint8", 10);
  await assertRejects(
    () => buffer.writeFile("/any/file"),
    Deno.errors.NotCapable,
    "write access",
  );
});

Deno.test("GpuBuffer.writeFile() holds up no later write when it fails before it begins", async () => {
  using folder = new TemporaryFolder();
  using gpu = openTestDevice();
  using x = await gpu.upload(new Uint8Array([1, 2, 3]));
  const path = folder.pathOf("file");
  const { signal } = new AbortController();
  signal.throwIfAborted = () => {
    throw new TypeError("as the test wants it");
  };
  await assertRejects(() => x.writeFile(path, { signal }), TypeError, "as the test");
  await x.writeFile(path);
  assertEquals(Deno.readFileSync(path), new Uint8Array([1, 2, 3]));
});
