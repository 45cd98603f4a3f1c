// Tests for files into device memory: which bytes, in which shape, and what is refused.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { CudaDevice } from "../../../src/device/device.ts";
import { assertSameBytes, patternBytes } from "../../support/contents.ts";
import { openTestDevice, testDriver } from "../../support/driver.ts";
import { countedBytes, makePipe, openWithSmallRing } from "../../support/files.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testOnDevice } from "../../support/with_device.ts";

testOnDevice("CudaDevice.uploadFile() reads a whole file as bytes", async (gpu) => {
  using folder = new TemporaryFolder();
  const bytes = patternBytes(1001);
  using buffer = await gpu.uploadFile(folder.write("whole.bin", bytes));
  assertEquals([buffer.dtype, buffer.label, buffer.length], ["uint8", "whole.bin", 1001]);
  assertEquals(await buffer.download(), bytes);
});

testOnDevice("CudaDevice.uploadFile() takes a file URL", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.write("a name with spaces", new Uint8Array([1, 2]));
  using buffer = await gpu.uploadFile(new URL(`file://${encodeURI(path)}`));
  assertEquals(await buffer.download(), new Uint8Array([1, 2]));
});

Deno.test("CudaDevice.uploadFile() reads elements of a type and shape, from an offset on", async () => {
  using folder = new TemporaryFolder();
  using gpu = openTestDevice();
  const values = new Float32Array([0, 1, 2, 3, 4, 5, 6, 7]);
  const path = folder.write("floats", new Uint8Array(values.buffer));
  using matrix = await gpu.uploadFile(path, { dtype: "float32", shape: [2, 3], fileOffset: 8 });
  assertEquals(matrix.shape, [2, 3]);
  assertEquals(await matrix.download(), values.slice(2));
  using pair = await gpu.uploadFile(path, { dtype: "float32", fileOffset: 4, byteLength: 8 });
  assertEquals(await pair.download(), values.slice(1, 3));
});

testOnDevice("CudaDevice.uploadFile() starts at any byte of a file", async (gpu) => {
  using folder = new TemporaryFolder();
  const bytes = patternBytes(64);
  const path = folder.write("odd", bytes);
  using buffer = await gpu.uploadFile(path, { fileOffset: 3, byteLength: 7 });
  assertEquals(await buffer.download(), bytes.slice(3, 10));
});

Deno.test("CudaDevice.uploadFile() makes an empty buffer of an empty file, or of its end", async () => {
  using folder = new TemporaryFolder();
  using gpu = openTestDevice();
  using empty = await gpu.uploadFile(folder.write("empty", new Uint8Array()));
  using end = await gpu.uploadFile(folder.write("end", new Uint8Array(4)), { fileOffset: 4 });
  assertEquals([empty.length, end.length], [0, 0]);
});

Deno.test("CudaDevice.uploadFile() moves a file larger than the ring, from an odd offset", async () => {
  using folder = new TemporaryFolder();
  using gpu = openWithSmallRing();
  const bytes = countedBytes(12 * 2 ** 20);
  const path = folder.write("large", bytes);
  const seen: number[] = [];
  using buffer = await gpu.uploadFile(path, {
    fileOffset: 5,
    onProgress: (done) => seen.push(done),
  });
  assertSameBytes(await buffer.download(), bytes.subarray(5));
  assertEquals(seen.at(-1), bytes.byteLength - 5);
  assert(seen.length > 1 && seen.every((done, i) => i === 0 || done > (seen[i - 1] ?? 0)));
});

testOnDevice("CudaDevice.uploadFile() reads the holes of a file as zeros", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.write("hole", new Uint8Array([1, 2]));
  await Deno.truncate(path, 2 ** 21);
  using buffer = await gpu.uploadFile(path);
  const expected = new Uint8Array(2 ** 21);
  expected.set([1, 2]);
  assertSameBytes(await buffer.download(), expected);
});

Deno.test("CudaDevice.uploadFile() refuses more than the file has, with both amounts", async () => {
  using folder = new TemporaryFolder();
  using gpu = openTestDevice();
  const path = folder.write("short", new Uint8Array(10));
  const message = `Cannot upload 11 bytes at 0 of ${path}: it has 10`;
  await assertRejects(() => gpu.uploadFile(path, { byteLength: 11 }), RangeError, message);
  await assertRejects(
    () => gpu.uploadFile(path, { fileOffset: 8, shape: 3 }),
    RangeError,
    "it has 10",
  );
  await assertRejects(
    () => gpu.uploadFile(path, { fileOffset: 11, shape: 0 }),
    RangeError,
    "it has 10",
  );
  assertEquals(gpu.live().count, 0);
});

testOnDevice("CudaDevice.uploadFile() refuses bytes that are no whole elements", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.write("odd", new Uint8Array(10));
  await assertRejects(() => gpu.uploadFile(path, { dtype: "float32" }), RangeError, "4 bytes");
  const request = { dtype: "float32", shape: 2, byteLength: 4 } as const;
  await assertRejects(() => gpu.uploadFile(path, request), RangeError, "the shape has 2");
});

Deno.test("CudaDevice.uploadFile() leaves no memory when the file shrinks meanwhile", async () => {
  using folder = new TemporaryFolder();
  using gpu = openWithSmallRing();
  const path = folder.write("shrinking", new Uint8Array(24 * 2 ** 20));
  const shrink = () => Deno.truncateSync(path, 100);
  await assertRejects(
    () => gpu.uploadFile(path, { onProgress: shrink }),
    RangeError,
    "it shrank to 100 meanwhile",
  );
  assertEquals(gpu.live().count, 0);
});

Deno.test("CudaDevice.uploadFile() leaves no memory when it is aborted", async () => {
  using folder = new TemporaryFolder();
  using gpu = openWithSmallRing();
  const path = folder.write("aborted", new Uint8Array(24 * 2 ** 20));
  const abort = new AbortController();
  const options = { signal: abort.signal, onProgress: () => abort.abort() };
  await assertRejects(() => gpu.uploadFile(path, options), DOMException, "abort");
  assertEquals(gpu.live().count, 0);
});

Deno.test("CudaDevice.uploadFile() reads files that the system makes as they are read", async () => {
  using gpu = openTestDevice();
  using version = await gpu.uploadFile("/proc/version");
  assertEquals(new TextDecoder().decode(await version.download()), readText("/proc/version"));
  using cores = await gpu.uploadFile("/sys/devices/system/cpu/possible");
  assertEquals(
    new TextDecoder().decode(await cores.download()),
    readText("/sys/devices/system/cpu/possible"),
  );
  using part = await gpu.uploadFile("/proc/version", { fileOffset: 2, byteLength: 3 });
  assertEquals(
    new TextDecoder().decode(await part.download()),
    readText("/proc/version").slice(2, 5),
  );
  await assertRejects(
    () => gpu.uploadFile("/sys/devices/system/cpu/possible", { byteLength: 4096 }),
    RangeError,
    "Cannot upload 4096 bytes at 0 of /sys/devices/system/cpu/possible: it has",
  );
});

testOnDevice("CudaDevice.uploadFile() reads small files of every size whole", async (gpu) => {
  using folder = new TemporaryFolder();
  for (const byteLength of [0, 1, 4095, 4096, 4097, 9000]) {
    const path = folder.write("small", patternBytes(byteLength));
    using buffer = await gpu.uploadFile(path);
    assertEquals(await buffer.download(), patternBytes(byteLength));
  }
});

Deno.test("CudaDevice.uploadFile() names what a link lacks, and what a path was escaped for", async () => {
  using folder = new TemporaryFolder();
  using gpu = openTestDevice();
  Deno.symlinkSync("none", folder.pathOf("dangling"));
  const { NotFound } = Deno.errors;
  const dangling = `Cannot open ${folder.pathOf("dangling")}: it is a link to none, which does ` +
    `not exist`;
  await assertRejects(() => gpu.uploadFile(folder.pathOf("dangling")), NotFound, dangling);
  const url = new URL(`file://${folder.path}/a%20b`);
  folder.write("a b", new Uint8Array(1));
  await assertRejects(() => gpu.uploadFile(url.pathname), NotFound, "pass a URL, or its path");
  await assertRejects(() => gpu.uploadFile(url.href), TypeError, "it is a URL as text");
  const slash = new URL(`file://${folder.path}/a%2Fb`);
  await assertRejects(() => gpu.uploadFile(slash), TypeError, `Cannot use ${slash.href} as a path`);
  using _right = await gpu.uploadFile(url);
});

Deno.test("CudaDevice.uploadFile() waits for what earlier calls write into the file", async () => {
  using folder = new TemporaryFolder();
  using gpu = openTestDevice();
  using first = await gpu.upload(Uint8Array.of(1, 2));
  using second = await gpu.upload(Uint8Array.of(3, 4));
  const path = folder.pathOf("file");
  const written = [first.writeFile(path)];
  const between = gpu.uploadFile(path);
  written.push(second.writeFile(path, { fileOffset: 0 }));
  const after = gpu.uploadFile(path);
  await Promise.all(written);
  using one = await between;
  using other = await after;
  assertEquals([await one.download(), await other.download()], [
    Uint8Array.of(1, 2),
    Uint8Array.of(3, 4),
  ]);
});

testOnDevice("CudaDevice.uploadFile() refuses folders and pipes", async (gpu) => {
  using folder = new TemporaryFolder();
  await assertRejects(() => gpu.uploadFile(folder.path), TypeError, "it is a folder");
  const pipe = await makePipe(folder, "pipe");
  await assertRejects(() => gpu.uploadFile(pipe), TypeError, "it is a pipe");
});

testOnDevice("CudaDevice.uploadFile() says that a file is not there", async (gpu) => {
  using folder = new TemporaryFolder();
  await assertRejects(() => gpu.uploadFile(folder.pathOf("none")), Deno.errors.NotFound);
});

Deno.test("CudaDevice.uploadFile() needs permission to read", {
  permissions: { read: false, ffi: true, env: true, sys: true },
}, async () => {
  using gpu = CudaDevice.open(0, { driver: testDriver() });
  await assertRejects(() => gpu.uploadFile("/any/file"), Deno.errors.NotCapable, "read access");
});

testOnDevice("CudaDevice.uploadFile() keeps no file open", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.write("closed", new Uint8Array(16));
  using _buffer = await gpu.uploadFile(path);
  await assertRejects(() => gpu.uploadFile(path, { byteLength: 17 }), RangeError);
  const open = [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => linkOf(name));
  assert(!open.includes(path));
});

function readText(path: string): string {
  return Deno.readTextFileSync(path);
}

/** The target of a descriptor of this process. */
function linkOf(descriptor: string): string | undefined {
  try {
    return Deno.readLinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined; // the descriptor that listed the folder is closed again
  }
}
