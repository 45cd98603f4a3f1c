// Checks the C library's rows by what they leave in memory and in files.
// They run on Linux; elsewhere the library must be refused in words.

import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { MADV, MAP, MAP_FAILED, O, openHost, PROT, SC } from "../../ffi/host.ts";
import { LibraryError } from "../../ffi/library.ts";
import { cString } from "../../ffi/pointers.ts";

const linux = { ignore: Deno.build.os !== "linux" };

function addressOf(array: Uint8Array<ArrayBuffer>): bigint {
  return Deno.UnsafePointer.value(Deno.UnsafePointer.of(array));
}

function bytesAt(address: bigint, byteLength: number): Uint8Array {
  const pointer = Deno.UnsafePointer.create(address);
  assert(pointer !== null);
  return new Uint8Array(Deno.UnsafePointerView.getArrayBuffer(pointer, byteLength));
}

/** Maps fresh pages for one test. */
function mapPages(byteLength: bigint): Disposable & { address: bigint } {
  const { mmap, munmap } = openHost();
  const address = mmap(0n, byteLength, PROT.READ | PROT.WRITE, MAP.PRIVATE | MAP.ANONYMOUS, -1, 0n);
  assertNotEquals(address, MAP_FAILED);
  return {
    address,
    [Symbol.dispose]: () => assertEquals(munmap(address, byteLength), 0),
  };
}

Deno.test("openHost() opens the C library once", linux, () => {
  assert(openHost() === openHost());
});

Deno.test("openHost() says that it needs Linux", { ignore: Deno.build.os === "linux" }, () => {
  assertThrows(() => openHost(), LibraryError, "need Linux");
});

Deno.test("HostApi.memcpy() copies between addresses", linux, () => {
  const source = new Uint8Array([1, 2, 3, 4]);
  const destination = new Uint8Array(4);
  openHost().memcpy(addressOf(destination), addressOf(source) + 1n, 2n);
  assertEquals([...destination], [2, 3, 0, 0]);
});

Deno.test("HostApi.memset() fills bytes", linux, () => {
  const bytes = new Uint8Array(4);
  openHost().memset(addressOf(bytes), 0xab, 3n);
  assertEquals([...bytes], [0xab, 0xab, 0xab, 0]);
});

Deno.test("HostApi.mmap() gives zeroed pages that can be written", linux, () => {
  using pages = mapPages(8192n);
  const bytes = bytesAt(pages.address, 8192);
  assert(bytes.every((byte) => byte === 0));
  bytes[8191] = 7;
  assertEquals(bytesAt(pages.address + 8191n, 1)[0], 7);
});

Deno.test("HostApi.mmap() returns MAP_FAILED for a length of zero", linux, () => {
  const { mmap } = openHost();
  assertEquals(mmap(0n, 0n, PROT.READ, MAP.PRIVATE | MAP.ANONYMOUS, -1, 0n), MAP_FAILED);
});

Deno.test("HostApi.madvise() drops pages that are no longer wanted", linux, () => {
  using pages = mapPages(4096n);
  bytesAt(pages.address, 4096).fill(1);
  assertEquals(openHost().madvise(pages.address, 4096n, MADV.DONTNEED), 0);
  assertEquals(bytesAt(pages.address, 1)[0], 0);
});

Deno.test("HostApi.sysconf() knows the page size", linux, () => {
  const pageBytes = openHost().sysconf(SC.PAGESIZE);
  assert(pageBytes >= 4096n && (pageBytes & (pageBytes - 1n)) === 0n);
});

Deno.test("HostApi.sysconf() counts at least the processors this process may use", linux, () => {
  const count = openHost().sysconf(SC.NPROCESSORS_ONLN);
  assert(count >= BigInt(navigator.hardwareConcurrency));
});

Deno.test("HostApi.open() returns -1 for a file that is not there", linux, () => {
  assertEquals(openHost().open(cString("/absent/file"), O.RDONLY, 0), -1);
});

Deno.test("HostApi.pread() reads at an offset, past 4 GiB too", linux, async () => {
  const path = await Deno.makeTempFile();
  try {
    using file = await Deno.open(path, { write: true });
    await file.seek(5 * 2 ** 30, Deno.SeekMode.Start);
    await file.write(new Uint8Array([9, 8, 7]));
    const { open, pread, close } = openHost();
    const descriptor = open(cString(path), O.RDONLY | O.CLOEXEC, 0);
    const bytes = new Uint8Array(4);
    assertEquals(pread(descriptor, addressOf(bytes), 4n, 5n * 2n ** 30n + 1n), 2n);
    assertEquals(close(descriptor), 0);
    assertEquals([...bytes], [8, 7, 0, 0]);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("HostApi.pwrite() writes a new file with the mode given", linux, async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/written`;
    const { open, pwrite, close } = openHost();
    const descriptor = open(cString(path), O.WRONLY | O.CREAT | O.TRUNC | O.CLOEXEC, 0o600);
    const bytes = new Uint8Array([1, 2, 3]);
    assertEquals(pwrite(descriptor, addressOf(bytes), 3n, 2n), 3n);
    assertEquals(close(descriptor), 0);
    assertEquals([...await Deno.readFile(path)], [0, 0, 1, 2, 3]);
    assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("HostApi.close() returns -1 for a descriptor that is not open", linux, () => {
  assertEquals(openHost().close(-1), -1);
});

Deno.test("HostApi.addressOf() tells where views of any memory start", linux, () => {
  const told = (view: Uint8Array<ArrayBufferLike>) =>
    openHost().addressOf(view as BufferSource, new Uint8Array(1), 0n);
  const array = new Uint8Array(64);
  assertEquals(told(array), addressOf(array));
  assertEquals(told(array.subarray(8)), addressOf(array) + 8n);
  const shared = new Uint8Array(new SharedArrayBuffer(64));
  assertEquals(told(shared.subarray(16)), told(shared) + 16n);
});

Deno.test("HostApi.preadNonblocking() reads what pwriteNonblocking() wrote", linux, async () => {
  const path = await Deno.makeTempFile();
  try {
    const { open, close, preadNonblocking, pwriteNonblocking } = openHost();
    const descriptor = open(cString(path), O.RDWR | O.CLOEXEC, 0);
    const written = new Uint8Array([4, 5, 6]);
    const read = new Uint8Array(3);
    assertEquals(await pwriteNonblocking(descriptor, addressOf(written), 3n, 10n), 3n);
    assertEquals(await preadNonblocking(descriptor, addressOf(read), 3n, 10n), 3n);
    assertEquals(close(descriptor), 0);
    assertEquals(read, written);
  } finally {
    await Deno.remove(path);
  }
});
