// Calls of the C library that signals interrupt are made again; a failure of any of them names the file
// and leaves none behind.

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ERRNO, type HostApi, openHost } from "../../../ffi/host.ts";
import { DiskFile } from "../../../src/disk/disk_file.ts";
import { lastErrno, openSystem } from "../../../src/disk/system_error.ts";
import { addressOf } from "../../../src/memory/host_memory.ts";
import { namesIn } from "../../support/files.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testOnDevice } from "../../support/with_device.ts";

type Name = "open" | "pread" | "pwrite" | "statx" | "fallocate" | "ftruncate" | "fsync" | "flock";

/** Makes a call of the C library fail with an errno so many times, until it is disposed. */
function failing(name: Name, errno: number, count: number): Disposable {
  const host = openSystem();
  const given = Int32Array.of(errno);
  const real = host[name] as (...parameters: unknown[]) => unknown;
  let left = count;
  const isWide = name === "pread" || name === "pwrite";
  const fake = (...parameters: unknown[]) => {
    if (left-- <= 0) return real(...parameters);
    const { memcpy, errnoLocation } = host;
    memcpy(errnoLocation(), addressOf(given), 4n);
    return isWide ? -1n : -1;
  };
  replace(host, name, fake);
  return { [Symbol.dispose]: () => replace(host, name, real) };
}

function replace(host: HostApi, name: Name, call: unknown): void {
  Object.defineProperty(host, name, { value: call, configurable: true, writable: true });
}

Deno.test("lastErrno() tells what a test makes of a call", () => {
  using _failing = failing("fsync", ERRNO.EINTR, 1);
  assertEquals([openHost().fsync(-1), lastErrno()], [-1, ERRNO.EINTR]);
});

for (
  const name of ["open", "pread", "pwrite", "statx", "fallocate", "ftruncate", "fsync"] as const
) {
  testOnDevice(`files are saved and loaded whole when signals interrupt ${name}()`, async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("x.bin");
    using x = gpu.iota("uint8", 1000);
    {
      using _failing = failing(name, ERRNO.EINTR, 3);
      await x.writeFile(path, { sync: true });
      await x.writeFile(path, { inPlace: true });
      using y = await gpu.uploadFile(path);
      assertEquals(await y.download(), await x.download());
    }
    {
      using _failing = failing(name, ERRNO.EINTR, 3);
      using file = new DiskFile(path, "write");
      file.resize(2000);
      file.flushSync();
      using again = new DiskFile(path, "read");
      const bytes = new Uint8Array(1);
      again.readSync(bytes, 999);
      assertEquals(bytes[0], 999 & 255);
    }
    assertEquals(namesIn(folder), ["x.bin"]);
  });
}

testOnDevice("a save whose file cannot be looked at names it, and leaves nothing", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("x.bin");
  using x = gpu.iota("uint8", 10);
  for (let at = 0; at < 12; at++) {
    const host = openSystem();
    const real = host.statx;
    let calls = 0;
    const given = Int32Array.of(ERRNO.EIO);
    replace(host, "statx", (...parameters: Parameters<HostApi["statx"]>) => {
      if (calls++ !== at) return real(...parameters);
      host.memcpy(host.errnoLocation(), addressOf(given), 4n);
      return -1;
    });
    try {
      const save = x.writeFile(path);
      if (await save.then(() => true, () => false)) continue;
      await assertRejects(() => save, Error, "x.bin");
    } finally {
      replace(host, "statx", real);
    }
    assertEquals(namesIn(folder).filter((name) => name !== "x.bin"), [], `statx() ${at}`);
  }
  using _failing = failing("statx", ERRNO.EIO, 1);
  assertThrows(() => new DiskFile(path, "write").reserve(0, 2 ** 62), Error, path);
});
