// The C library as its headers declare it: one row per function, its C declaration above it.
// Addresses are 64-bit integers, because most belong to memory that no JavaScript buffer stands for.

import { type BoundGroups, LibraryError, openLibrary } from "./library.ts";

/** The calls that return at once. */
const IMMEDIATE = {
  // void *memcpy(void *dest, const void *src, size_t n)
  memcpy: { parameters: ["u64", "u64", "usize"], result: "u64" },
  // The same call: of 0 bytes it returns the address of the first array.
  addressOf: { name: "memcpy", parameters: ["buffer", "buffer", "usize"], result: "u64" },
  // void *memset(void *s, int c, size_t n)
  memset: { parameters: ["u64", "i32", "usize"], result: "u64" },
  // void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
  mmap: { parameters: ["u64", "usize", "i32", "i32", "i32", "i64"], result: "u64" },
  // int munmap(void *addr, size_t length)
  munmap: { parameters: ["u64", "usize"], result: "i32" },
  // int madvise(void *addr, size_t length, int advice)
  madvise: { parameters: ["u64", "usize", "i32"], result: "i32" },
  // int open(const char *pathname, int flags, ... /* mode_t mode */)
  open: { parameters: ["buffer", "i32", "u32"], result: "i32" },
  // ssize_t pread(int fd, void *buf, size_t count, off_t offset)
  pread: { parameters: ["i32", "u64", "usize", "i64"], result: "isize" },
  // ssize_t pwrite(int fd, const void *buf, size_t count, off_t offset)
  pwrite: { parameters: ["i32", "u64", "usize", "i64"], result: "isize" },
  // int close(int fd)
  close: { parameters: ["i32"], result: "i32" },
  // long sysconf(int name)
  sysconf: { parameters: ["i32"], result: "i64" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The calls that move bytes once more, run off the JavaScript thread. */
const MOVING = {
  // ssize_t pread(int fd, void *buf, size_t count, off_t offset)
  preadNonblocking: {
    name: "pread",
    parameters: ["i32", "u64", "usize", "i64"],
    result: "isize",
    nonblocking: true,
  },
  // ssize_t pwrite(int fd, const void *buf, size_t count, off_t offset)
  pwriteNonblocking: {
    name: "pwrite",
    parameters: ["i32", "u64", "usize", "i64"],
    result: "isize",
    nonblocking: true,
  },
} as const satisfies Deno.ForeignLibraryInterface;

/** The function tables, bound one after the other on first use. */
export const HOST_GROUPS = [IMMEDIATE, MOVING] as const;

/** The C library's functions. */
export type HostApi = BoundGroups<typeof HOST_GROUPS>;

/** What `mmap` may do with the pages: `PROT_*` of sys/mman.h. */
export const PROT = { READ: 1, WRITE: 2 } as const;

/** What kind of mapping `mmap` makes: `MAP_*` of sys/mman.h on Linux. */
export const MAP = { SHARED: 0x01, PRIVATE: 0x02, ANONYMOUS: 0x20, POPULATE: 0x8000 } as const;

/** What `mmap` returns when it fails: -1 as an address. */
export const MAP_FAILED = 0xffff_ffff_ffff_ffffn;

/** How `madvise` should treat pages: `MADV_*` of sys/mman.h on Linux. */
export const MADV = { DONTNEED: 4, HUGEPAGE: 14, POPULATE_WRITE: 23 } as const;

/** How `open` opens a file: `O_*` of fcntl.h on Linux, those that are alike on all machines. */
export const O = {
  RDONLY: 0,
  WRONLY: 1,
  RDWR: 2,
  CREAT: 0o100,
  TRUNC: 0o1000,
  CLOEXEC: 0o2000000,
} as const;

/** What `sysconf` can be asked: `_SC_*` of unistd.h on Linux. */
export const SC = { PAGESIZE: 30, NPROCESSORS_ONLN: 84 } as const;

/** Name of the C library on Linux. */
export const HOST_LIBRARY = "libc.so.6";

let host: HostApi | undefined;

/**
 * Opens the C library, once for a process.
 *
 * @throws LibraryError when there is no permission, and on systems other than Linux.
 */
export function openHost(): HostApi {
  host ??= openLibrary({
    title: "the C library",
    candidates: Deno.build.os === "linux" ? [HOST_LIBRARY] : [],
    remedy: "files and host memory of this kind need Linux",
  }, HOST_GROUPS).api;
  return host;
}

/** Opens the C library where it can be used; undefined where it cannot. */
export function findHost(): HostApi | undefined {
  try {
    return openHost();
  } catch (error) {
    if (error instanceof LibraryError) return undefined;
    throw error;
  }
}
