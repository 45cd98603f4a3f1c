// Checks the C library's rows by what they leave in memory and in files.
// They run on Linux; elsewhere the library must be refused in words.

import { assert, assertEquals, assertLess, assertNotEquals, assertThrows } from "@std/assert";
import { cString, readCString } from "../../ffi/c_strings.ts";
import {
  AT,
  CPU_SET_BYTES,
  ERRNO,
  FUTEX,
  LOCK,
  MADV,
  MAP,
  MAP_FAILED,
  MPOL_PREFERRED,
  O,
  O_OF_MACHINE,
  O_PATH,
  openHost,
  PATH_MAX,
  PROT,
  S_IF,
  STATX,
  STATX_BASIC_STATS,
  SYS_FUTEX,
  SYS_MBIND,
} from "../../ffi/host.ts";
import { LibraryError } from "../../ffi/library.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOnLinux } from "../support/test_unless.ts";

function addressOf(array: Uint8Array<ArrayBuffer>): bigint {
  return Deno.UnsafePointer.value(Deno.UnsafePointer.of(array));
}

testOnLinux("openHost() opens the C library once", () => {
  assert(openHost() === openHost());
});

Deno.test("openHost() says that it needs Linux", { ignore: Deno.build.os === "linux" }, () => {
  assertThrows(() => openHost(), LibraryError, "need Linux");
});

testOnLinux("HostApi.memcpy() copies between addresses", () => {
  const source = new Uint8Array([1, 2, 3, 4]);
  const destination = new Uint8Array(4);
  openHost().memcpy(addressOf(destination), addressOf(source) + 1n, 2n);
  assertEquals([...destination], [2, 3, 0, 0]);
});

testOnLinux("HostApi.madvise() drops pages that are no longer wanted", () => {
  const PAGE_BYTES = 4096n;
  const bytes = new Uint8Array(2 ** 22).fill(1); // so large that its pages are its own
  const page = (addressOf(bytes) / PAGE_BYTES + 1n) * PAGE_BYTES;
  assertEquals(openHost().madvise(page, PAGE_BYTES, MADV.DONTNEED), 0);
  const offset = Number(page - addressOf(bytes));
  assertEquals([bytes[offset - 1], bytes[offset], bytes[offset + 4095]], [1, 0, 0]);
});

testOnLinux("HostApi.sched_getaffinity() says which processors the program may use", () => {
  const set = new Uint8Array(CPU_SET_BYTES);
  assertEquals(openHost().sched_getaffinity(0, BigInt(set.length), set), 0);
  const status = Deno.readTextFileSync("/proc/thread-self/status");
  const words = /^Cpus_allowed:\s*(\S+)$/m.exec(status)?.[1] ?? "";
  const bits = (text: string) => text.replace(/^0+/, "");
  assertEquals(bits(set.toReversed().toHex()), bits(words.replaceAll(",", "")));
  assertEquals(openHost().sched_setaffinity(0, BigInt(set.length), set), 0);
  assertEquals(openHost().sched_setaffinity(0, BigInt(set.length), new Uint8Array(set.length)), -1);
});

testOnLinux("HostApi.mbind() refuses a node that no machine has, and leaves memory", () => {
  const PAGES = 2n ** 20n;
  const flags = MAP.PRIVATE | MAP.ANONYMOUS;
  const address = openHost().mmap(0n, PAGES, PROT.READ | PROT.WRITE, flags, -1, 0n);
  assertNotEquals(address, MAP_FAILED);
  const nodes = new BigUint64Array(16);
  nodes[15] = 1n << 63n;
  const status = openHost().mbind(SYS_MBIND, address, PAGES, MPOL_PREFERRED, nodes, 1025n, 0);
  assertEquals(status, -1n);
  openHost().memcpy(address + 4096n, address, 4096n);
  assertEquals(openHost().munmap(address, PAGES), 0);
});

testOnLinux("HostApi.open() returns -1 for a file that is not there", () => {
  assertEquals(openHost().open(cString("/absent/file"), O.RDONLY, 0), -1);
});

testOnLinux("HostApi.pread() reads at an offset, past 4 GiB too", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", "");
  using file = await Deno.open(path, { write: true });
  await file.seek(5 * 2 ** 30, Deno.SeekMode.Start);
  await file.write(new Uint8Array([9, 8, 7]));
  const { open, pread, close } = openHost();
  const descriptor = open(cString(path), O.RDONLY | O.CLOEXEC, 0);
  const bytes = new Uint8Array(4);
  assertEquals(pread(descriptor, addressOf(bytes), 4n, 5n * 2n ** 30n + 1n), 2n);
  assertEquals(close(descriptor), 0);
  assertEquals([...bytes], [8, 7, 0, 0]);
});

testOnLinux("HostApi.pwrite() writes a new file with the mode given", async () => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("written");
  const { open, pwrite, close } = openHost();
  const descriptor = open(cString(path), O.WRONLY | O.CREAT | O.TRUNC | O.CLOEXEC, 0o600);
  const bytes = new Uint8Array([1, 2, 3]);
  assertEquals(pwrite(descriptor, addressOf(bytes), 3n, 2n), 3n);
  assertEquals(close(descriptor), 0);
  assertEquals([...await Deno.readFile(path)], [0, 0, 1, 2, 3]);
  assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
});

testOnLinux("HostApi.fallocate() finds room for bytes that nobody wrote yet", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", "");
  const { open, fallocate, close } = openHost();
  const descriptor = open(cString(path), O.WRONLY | O.CLOEXEC, 0);
  assertEquals(fallocate(descriptor, 0, 100n, 2n ** 20n), 0);
  assertEquals(fallocate(descriptor, 0, 0n, 0n), -1);
  assertEquals(close(descriptor), 0);
  assertEquals((await Deno.stat(path)).size, 100 + 2 ** 20);
});

testOnLinux("HostApi.close() returns -1 for a descriptor that is not open", () => {
  assertEquals(openHost().close(-1), -1);
});

for (const name of ["copyFromNonblocking", "copyIntoNonblocking"] as const) {
  testOnLinux(`HostApi.${name}() keeps an array that is moved away meanwhile`, async () => {
    const array = new Uint8Array(1 << 24).fill(name === "copyFromNonblocking" ? 7 : 0);
    const other = new Uint8Array(1 << 24).fill(7);
    const { addressOf, copyFromNonblocking, copyIntoNonblocking } = openHost();
    const address = addressOf(other, new Uint8Array(1), 0n);
    const size = BigInt(array.byteLength);
    const copied = name === "copyFromNonblocking"
      ? copyFromNonblocking(address, array, size)
      : copyIntoNonblocking(array, address, size);
    const moved = new Uint8Array(array.buffer.transfer());
    await copied;
    assertEquals(moved, other);
    assertEquals(other.every((byte) => byte === 7), true);
  });
}

testOnLinux("HostApi.mincore() tells pages that were touched or madvised", () => {
  const { addressOf, madvise, mincore, mmap, munmap } = openHost();
  const size = 16n * 4096n;
  const start = mmap(0n, size, PROT.READ | PROT.WRITE, MAP.PRIVATE | MAP.ANONYMOUS, -1, 0n);
  assertNotEquals(start, MAP_FAILED);
  const isThere = (page: bigint) => {
    const state = new Uint8Array(1);
    assertEquals(mincore(start + page * 4096n, 4096n, state), 0);
    return (state[0] ?? 0) & 1;
  };
  assertEquals([isThere(0n), isThere(8n), isThere(15n)], [0, 0, 0]);
  assertEquals(madvise(start + 8n * 4096n, 4096n, MADV.POPULATE_WRITE), 0);
  assertEquals([isThere(0n), isThere(8n), isThere(15n)], [0, 1, 0]);
  const pointer = Deno.UnsafePointer.create(start);
  assert(pointer !== null);
  const view = new Uint8Array(Deno.UnsafePointerView.getArrayBuffer(pointer, Number(size)));
  assertEquals(addressOf(view, new Uint8Array(1), 0n), start);
  assertEquals(madvise(start, size, MADV.POPULATE_WRITE), 0);
  assertEquals([isThere(0n), isThere(8n), isThere(15n)], [1, 1, 1]);
  assertEquals(view.every((byte) => byte === 0), true);
  assertEquals(munmap(start, size), 0);
  assertEquals(mmap(0n, 0n, 0, 0, -1, 0n), MAP_FAILED);
});

testOnLinux("HostApi.futexKeepingNonblocking() keeps memory that is moved away", async () => {
  const word = new Int32Array(new SharedArrayBuffer(4));
  const { addressOf, futex, futexKeepingNonblocking } = openHost();
  const at = addressOf(word, new Uint8Array(1), 0n);
  const array = new Uint8Array(1 << 24).fill(7);
  const start = addressOf(array, new Uint8Array(1), 0n);
  const { WAIT_PRIVATE, WAKE_PRIVATE } = FUTEX;
  const kept = futexKeepingNonblocking(SYS_FUTEX, at, WAIT_PRIVATE, 0, null, 0n, 0n, array);
  array.buffer.transfer(1); // the memory would be freed here
  for (let round = 0; round < 8; round++) new Uint8Array(1 << 24).fill(1);
  const seen = new Uint8Array(4);
  openHost().memcpy(addressOf(seen, new Uint8Array(1), 0n), start + 1000n, 4n);
  assertEquals([array.byteLength, ...seen], [0, 7, 7, 7, 7]);
  Atomics.store(word, 0, 1);
  futex(SYS_FUTEX, at, WAKE_PRIVATE, 1, null);
  await kept;
});

testOnLinux("HostApi.addressOf() tells where views of any memory start", () => {
  const told = (view: Uint8Array<ArrayBufferLike>) =>
    openHost().addressOf(view as BufferSource, new Uint8Array(1), 0n);
  const array = new Uint8Array(64);
  assertEquals(told(array), addressOf(array));
  assertEquals(told(array.subarray(8)), addressOf(array) + 8n);
  const shared = new Uint8Array(new SharedArrayBuffer(64));
  assertEquals(told(shared.subarray(16)), told(shared) + 16n);
});

testOnLinux("HostApi.preadNonblocking() reads what pwriteNonblocking() wrote", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", "");
  const { open, close, preadNonblocking, pwriteNonblocking } = openHost();
  const descriptor = open(cString(path), O.RDWR | O.CLOEXEC, 0);
  const written = new Uint8Array([4, 5, 6]);
  const read = new Uint8Array(3);
  assertEquals(await pwriteNonblocking(descriptor, addressOf(written), 3n, 10n), 3n);
  assertEquals(await preadNonblocking(descriptor, addressOf(read), 3n, 10n), 3n);
  assertEquals(close(descriptor), 0);
  assertEquals(read, written);
});

testOnLinux("HostApi.futex() tells a changed word from one that somebody woke", () => {
  const { futex } = openHost();
  const words = new Int32Array([7]);
  const address = addressOf(new Uint8Array(words.buffer));
  const minute = new BigInt64Array([60n, 0n]);
  const started = performance.now();
  assertEquals(futex(SYS_FUTEX, address, FUTEX.WAIT_PRIVATE, 6, minute), -1n);
  assertLess(performance.now() - started, 50_000, "it has waited");
  assertEquals(futex(SYS_FUTEX, address, FUTEX.WAKE_PRIVATE, 1, null), 0n);
});

testOnLinux("HostApi.statx() tells what Deno tells of a file", () => {
  using folder = new TemporaryFolder();
  const path = folder.write("known", new Uint8Array(1234));
  Deno.chmodSync(path, 0o640);
  const bytes = new Uint8Array(STATX.byteLength);
  assertEquals(openHost().statx(AT.FDCWD, cString(path), 0, STATX_BASIC_STATS, bytes), 0);
  const { mode, size, inode, uid, gid, linkCount } = STATX.decode(bytes);
  const told = Deno.statSync(path);
  assertEquals([mode, Number(size)], [S_IF.REG | 0o640, 1234]);
  assertEquals([Number(inode), uid, gid, linkCount], [told.ino, told.uid, told.gid, told.nlink]);
});

Deno.test("STATX is as long as the struct of linux/stat.h, with the device at its place", () => {
  assertEquals(STATX.byteLength, 256);
  const { mode, inode, size, deviceMajor, mountId } = STATX.offsets;
  assertEquals([mode, inode, size, deviceMajor, mountId], [28, 32, 40, 136, 144]);
});

testOnLinux("HostApi.realpath() and readlink() follow a link", () => {
  using folder = new TemporaryFolder();
  const real = Deno.realPathSync(folder.write("file", new Uint8Array()));
  const link = folder.pathOf("link");
  Deno.symlinkSync("file", link);
  const bytes = new Uint8Array(PATH_MAX);
  const { realpath, readlink } = openHost();
  assert(realpath(cString(link), bytes) !== 0n);
  assertEquals(readCString(bytes), real);
  assertEquals(realpath(cString(folder.pathOf("none")), bytes), 0n);
  assertEquals(readlink(cString(link), bytes, BigInt(PATH_MAX)), 4n);
  assertEquals(readCString(bytes.subarray(0, 4)), "file");
});

testOnLinux("HostApi.rename() puts one file into the place of another", () => {
  using folder = new TemporaryFolder();
  const from = folder.write("from", Uint8Array.of(1));
  const to = folder.write("to", Uint8Array.of(2, 3));
  assertEquals(openHost().rename(cString(from), cString(to)), 0);
  assertEquals([...Deno.readDirSync(folder.path)].map(({ name }) => name), ["to"]);
  assertEquals(Deno.readFileSync(to), Uint8Array.of(1));
});

testOnLinux("HostApi.ftruncate(), fchmod(), fchown(), fsync() change open files", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("changed", new Uint8Array(10));
  const { open, close, ftruncate, fchmod, fchown, fsync, fsyncNonblocking } = openHost();
  const descriptor = open(cString(path), O.WRONLY | O.CLOEXEC, 0);
  const { uid, gid } = Deno.statSync(path);
  assertEquals([ftruncate(descriptor, 3n), fchmod(descriptor, 0o604)], [0, 0]);
  assertEquals(fchown(descriptor, uid ?? 0, gid ?? 0), 0);
  assertEquals([fsync(descriptor), await fsyncNonblocking(descriptor)], [0, 0]);
  assertEquals(close(descriptor), 0);
  const { size, mode } = Deno.statSync(path);
  assertEquals([size, (mode ?? 0) & 0o777], [3, 0o604]);
});

testOnLinux("HostApi.flock() refuses a second lock until the first is let go", () => {
  using folder = new TemporaryFolder();
  const path = cString(folder.write("locked", new Uint8Array(1)));
  const { open, close, flock, errnoLocation, copyOut } = openHost();
  const first = open(path, O.WRONLY | O.CLOEXEC, 0);
  const second = open(path, O.WRONLY | O.CLOEXEC, 0);
  assertEquals(flock(first, LOCK.EX | LOCK.NB), 0);
  const errno = new Int32Array(1);
  const status = flock(second, LOCK.EX | LOCK.NB);
  copyOut(errno, errnoLocation(), 4n);
  assertEquals([status, errno[0]], [-1, ERRNO.EAGAIN]);
  assertEquals([flock(first, LOCK.UN), flock(second, LOCK.EX | LOCK.NB)], [0, 0]);
  assertEquals([close(first), close(second)], [0, 0]);
});

testOnLinux("HostApi.closeNonblocking() closes a file held by its name alone", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("held", new Uint8Array(1));
  const { open, close, closeNonblocking, fsync } = openHost();
  const descriptor = open(cString(path), O_PATH | O.CLOEXEC, 0);
  assertEquals(fsync(descriptor), -1); // nothing but a name
  assertEquals(await closeNonblocking(descriptor), 0);
  assertEquals(close(descriptor), -1);
});

testOnLinux("HostApi.open() follows no link, or opens a folder, by its flags", () => {
  using folder = new TemporaryFolder();
  const path = folder.write("file", new Uint8Array(1));
  const link = folder.pathOf("link");
  Deno.symlinkSync("file", link);
  const { open, close } = openHost();
  assertEquals(open(cString(link), O.RDONLY | O_OF_MACHINE.NOFOLLOW, 0), -1);
  assertEquals(open(cString(path), O.RDONLY | O_OF_MACHINE.DIRECTORY, 0), -1);
  const descriptor = open(cString(folder.path), O.RDONLY | O_OF_MACHINE.DIRECTORY | O.CLOEXEC, 0);
  assertEquals(close(descriptor), 0);
});

testOnLinux("HostApi.errnoLocation() is where the last failure's number is", () => {
  const { open, errnoLocation, copyOut } = openHost();
  const errno = new Int32Array(1);
  const failures: readonly [path: string, flags: number, errno: number][] = [
    ["/absent/file", O.RDONLY, ERRNO.ENOENT],
    ["/", O.WRONLY, ERRNO.EISDIR],
    ["/proc/version/file", O.RDONLY, ERRNO.ENOTDIR],
  ];
  for (let round = 0; round < 1000; round++) { // also once the compiler has made the calls fast
    for (const [path, flags, expected] of failures) {
      const encoded = cString(path);
      open(encoded, flags, 0);
      copyOut(errno, errnoLocation(), 4n);
      assertEquals(errno[0], expected);
    }
  }
});

testOnLinux("HostApi.fsetxattr() keeps what getxattr() reads", () => {
  using folder = new TemporaryFolder();
  const path = folder.write("marked", new Uint8Array(1));
  const { open, close, fsetxattr, getxattr, fremovexattr } = openHost();
  const descriptor = open(cString(path), O.WRONLY | O.CLOEXEC, 0);
  const name = cString("user.vramkit");
  const value = new Uint8Array(8);
  const isKept = fsetxattr(descriptor, name, Uint8Array.of(1, 2, 3), 3n, 0) === 0;
  // A file system without such attributes keeps none, and says so in both calls.
  assertEquals(getxattr(cString(path), name, value, 8n), isKept ? 3n : -1n);
  assertEquals([...value.subarray(0, 3)], isKept ? [1, 2, 3] : [0, 0, 0]);
  assertEquals(fremovexattr(descriptor, name), isKept ? 0 : -1);
  assertEquals(close(descriptor), 0);
});
