// The C library as its headers declare it: one row per function, its C declaration above it.
// Addresses are 64-bit integers, because most belong to memory that no JavaScript buffer stands for.

import { type BoundGroups, LibraryError, openLibrary } from "./library.ts";

/** The calls that return at once. */
const IMMEDIATE = {
  // void *memcpy(void *dest, const void *src, size_t n)
  memcpy: { parameters: ["u64", "u64", "usize"], result: "u64" },
  // The same call: of 0 bytes it returns the address of the first array.
  addressOf: { name: "memcpy", parameters: ["buffer", "buffer", "usize"], result: "u64" },
  // int madvise(void *addr, size_t length, int advice)
  madvise: { parameters: ["u64", "usize", "i32"], result: "i32" },
  // int open(const char *pathname, int flags, ... /* mode_t mode */)
  open: { parameters: ["buffer", "i32", "u32"], result: "i32" },
  // ssize_t pread(int fd, void *buf, size_t count, off_t offset)
  pread: { parameters: ["i32", "u64", "usize", "i64"], result: "isize" },
  // ssize_t pwrite(int fd, const void *buf, size_t count, off_t offset)
  pwrite: { parameters: ["i32", "u64", "usize", "i64"], result: "isize" },
  // long syscall(long number, ...), for SYS_futex:
  // long futex(uint32_t *uaddr, int op, uint32_t val, const struct timespec *timeout)
  futex: {
    name: "syscall",
    parameters: ["isize", "u64", "i32", "u32", "buffer"],
    result: "isize",
  },
  // int fallocate(int fd, int mode, off_t offset, off_t len)
  fallocate: { parameters: ["i32", "i32", "i64", "i64"], result: "i32" },
  // int close(int fd)
  close: { parameters: ["i32"], result: "i32" },
  // pid_t getpid(void)
  getpid: { parameters: [], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** How many arrays one call can keep. */
export const KEPT_ARRAYS = 512;
const KEPT_BUFFERS: readonly "buffer"[] = Array(KEPT_ARRAYS).fill("buffer");

/** The calls that run off the JavaScript thread. */
const ELSEWHERE = {
  // ssize_t process_vm_readv(pid_t pid,
  //     const struct iovec *local_iov, unsigned long liovcnt,
  //     const struct iovec *remote_iov, unsigned long riovcnt, unsigned long flags)
  processVmReadNonblocking: {
    name: "process_vm_readv",
    parameters: ["i32", "buffer", "usize", "buffer", "usize", "usize"],
    result: "isize",
    nonblocking: true,
  },
  // ssize_t process_vm_writev(pid_t pid,
  //     const struct iovec *local_iov, unsigned long liovcnt,
  //     const struct iovec *remote_iov, unsigned long riovcnt, unsigned long flags)
  processVmWriteNonblocking: {
    name: "process_vm_writev",
    parameters: ["i32", "buffer", "usize", "buffer", "usize", "usize"],
    result: "isize",
    nonblocking: true,
  },
  // long futex(uint32_t *uaddr, int op, uint32_t val, const struct timespec *timeout,
  //     uint32_t *uaddr2, uint32_t val3), and an argument that the kernel never sees: Deno keeps the
  //     memory of an array that a pending call was given, also when the array is moved away.
  futexKeepingNonblocking: {
    name: "syscall",
    parameters: ["isize", "u64", "i32", "u32", "buffer", "usize", "usize", "buffer"],
    result: "isize",
    nonblocking: true,
  },
  // The same call with many such arguments, each an array or null.
  futexKeepingManyNonblocking: {
    name: "syscall",
    parameters: ["isize", "u64", "i32", "u32", "buffer", "usize", "usize", ...KEPT_BUFFERS],
    result: "isize",
    nonblocking: true,
  },
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
export const HOST_GROUPS = [IMMEDIATE, ELSEWHERE] as const;

/** The C library's functions. */
export type HostApi = BoundGroups<typeof HOST_GROUPS>;

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

/** Number of the futex call: `SYS_futex` of sys/syscall.h on Linux. */
export const SYS_FUTEX = Deno.build.arch === "aarch64" ? 98n : 202n;

/** What a futex call does, among the threads of one process: `FUTEX_*` of linux/futex.h. */
export const FUTEX = { WAIT_PRIVATE: 128, WAKE_PRIVATE: 129 } as const;

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
