// The C library as its headers declare it: one row per function, its C declaration above it.
// Addresses are 64-bit integers, because most belong to memory that no JavaScript buffer stands for.

import { type BoundGroups, LibraryError, type OpenLibrary, openLibrary } from "./library.ts";
import { bytes, i32, struct, u16, u32, u64 } from "./struct.ts";

/** Calls that transfers make about arrays. */
const ARRAYS = {
  // void *memcpy(void *dest, const void *src, size_t n): of 0 bytes it returns the first array's address.
  addressOf: { name: "memcpy", parameters: ["buffer", "buffer", "usize"], result: "u64" },
  // int mincore(void *addr, size_t length, unsigned char *vec)
  mincore: { parameters: ["u64", "usize", "buffer"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The calls of lanes. */
const LANES = {
  // void *memcpy(void *dest, const void *src, size_t n)
  memcpy: { parameters: ["u64", "u64", "usize"], result: "u64" },
  // ssize_t pread(int fd, void *buf, size_t count, off_t offset)
  pread: { parameters: ["i32", "u64", "usize", "i64"], result: "isize" },
  // ssize_t pwrite(int fd, const void *buf, size_t count, off_t offset)
  pwrite: { parameters: ["i32", "u64", "usize", "i64"], result: "isize" },
  // long syscall(long number, ...), for SYS_futex:
  // long futex(uint32_t *uaddr, int op, uint32_t val, const struct timespec *timeout)
  futex: { name: "syscall", parameters: ["isize", "u64", "i32", "u32", "buffer"], result: "isize" },
  // int madvise(void *addr, size_t length, int advice)
  madvise: { parameters: ["u64", "usize", "i32"], result: "i32" },
  // int sched_setaffinity(pid_t pid, size_t cpusetsize, const cpu_set_t *mask): 0 is the calling thread
  sched_setaffinity: { parameters: ["i32", "usize", "buffer"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The other calls that return at once. */
const IMMEDIATE = {
  // long sysconf(int name)
  sysconf: { parameters: ["i32"], result: "isize" },
  // int mallopt(int param, int value)
  mallopt: { parameters: ["i32", "i32"], result: "i32" },
  // void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
  mmap: { parameters: ["u64", "usize", "i32", "i32", "i32", "i64"], result: "u64" },
  // int munmap(void *addr, size_t length)
  munmap: { parameters: ["u64", "usize"], result: "i32" },
  // int sched_getaffinity(pid_t pid, size_t cpusetsize, cpu_set_t *mask)
  sched_getaffinity: { parameters: ["i32", "usize", "buffer"], result: "i32" },
  // long syscall(long number, ...), for SYS_mbind:
  // long mbind(void addr[.len], unsigned long len, int mode, const unsigned long nodemask[],
  //     unsigned long maxnode, unsigned int flags)
  mbind: {
    name: "syscall",
    parameters: ["isize", "u64", "u64", "i32", "buffer", "u64", "u32"],
    result: "isize",
  },
  // int open(const char *pathname, int flags, ... /* mode_t mode */)
  open: { parameters: ["buffer", "i32", "u32"], result: "i32" },
  // int fallocate(int fd, int mode, off_t offset, off_t len)
  fallocate: { parameters: ["i32", "i32", "i64", "i64"], result: "i32" },
  // int close(int fd)
  close: { parameters: ["i32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Number of arrays that one call can keep. */
export const KEPT_ARRAYS = 512;
const KEPT_BUFFERS: readonly "buffer"[] = Array(KEPT_ARRAYS).fill("buffer");

/** The rest of the row of a call that runs off the JavaScript thread. */
const INT_LATER = { result: "i32", nonblocking: true } as const;
const SIZE_LATER = { result: "isize", nonblocking: true } as const;

/** The calls that run off the JavaScript thread. */
const ELSEWHERE = {
  // int sched_yield(void): its end takes a turn of the event loop
  yieldNonblocking: { name: "sched_yield", parameters: [], ...INT_LATER },
  // void *memcpy(void *dest, const void *src, size_t n): out of an array, and into one
  copyFromNonblocking: {
    name: "memcpy",
    parameters: ["u64", "buffer", "usize"],
    result: "u64",
    nonblocking: true,
  },
  copyIntoNonblocking: {
    name: "memcpy",
    parameters: ["buffer", "u64", "usize"],
    result: "u64",
    nonblocking: true,
  },
  // long syscall(long number, ...), for SYS_futex:
  // long futex(uint32_t *uaddr, int op, uint32_t val, const struct timespec *timeout,
  //     uint32_t *uaddr2, uint32_t val3), and an argument that the kernel never sees: Deno keeps the
  //     memory of an array that a pending call was given, also when the array is moved away.
  futexKeepingNonblocking: {
    name: "syscall",
    parameters: ["isize", "u64", "i32", "u32", "buffer", "usize", "usize", "buffer"],
    ...SIZE_LATER,
  },
  // The same call with many such arguments, each an array or null.
  futexKeepingManyNonblocking: {
    name: "syscall",
    parameters: ["isize", "u64", "i32", "u32", "buffer", "usize", "usize", ...KEPT_BUFFERS],
    ...SIZE_LATER,
  },
  // ssize_t pread(int fd, void *buf, size_t count, off_t offset)
  preadNonblocking: { name: "pread", parameters: ["i32", "u64", "usize", "i64"], ...SIZE_LATER },
  // ssize_t pwrite(int fd, const void *buf, size_t count, off_t offset)
  pwriteNonblocking: { name: "pwrite", parameters: ["i32", "u64", "usize", "i64"], ...SIZE_LATER },
} as const satisfies Deno.ForeignLibraryInterface;

/** Calls about files besides reading and writing: names, permissions, flushing to the disk. */
const FILES = {
  // int getrlimit(int resource, struct rlimit *rlim)
  getrlimit: { parameters: ["i32", "buffer"], result: "i32" },
  // int statx(int dirfd, const char *restrict pathname, int flags, unsigned int mask,
  //           struct statx *restrict statxbuf)
  statx: { parameters: ["i32", "buffer", "i32", "u32", "buffer"], result: "i32" },
  // char *realpath(const char *restrict path, char *restrict resolved_path)
  realpath: { parameters: ["buffer", "buffer"], result: "u64" },
  // ssize_t readlink(const char *restrict pathname, char *restrict buf, size_t bufsiz)
  readlink: { parameters: ["buffer", "buffer", "usize"], result: "isize" },
  // int rename(const char *oldpath, const char *newpath)
  rename: { parameters: ["buffer", "buffer"], result: "i32" },
  // int ftruncate(int fd, off_t length)
  ftruncate: { parameters: ["i32", "i64"], result: "i32" },
  // int posix_fadvise(int fd, off_t offset, off_t len, int advice)
  posix_fadvise: { parameters: ["i32", "i64", "i64", "i32"], result: "i32" },
  // int flock(int fd, int operation)
  flock: { parameters: ["i32", "i32"], result: "i32" },
  // int fchmod(int fd, mode_t mode)
  fchmod: { parameters: ["i32", "u32"], result: "i32" },
  // int fchown(int fd, uid_t owner, gid_t group)
  fchown: { parameters: ["i32", "u32", "u32"], result: "i32" },
  // ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
  getxattr: { parameters: ["buffer", "buffer", "buffer", "usize"], result: "isize" },
  // int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
  fsetxattr: { parameters: ["i32", "buffer", "buffer", "usize", "i32"], result: "i32" },
  // int fremovexattr(int fd, const char *name)
  fremovexattr: { parameters: ["i32", "buffer"], result: "i32" },
  // int fsync(int fd)
  fsync: { parameters: ["i32"], result: "i32" },
  // int fsync(int fd)
  fsyncNonblocking: { name: "fsync", parameters: ["i32"], ...INT_LATER },
  // int close(int fd)
  closeNonblocking: { name: "close", parameters: ["i32"], ...INT_LATER },
  // int *__errno_location(void)
  errnoLocation: { name: "__errno_location", parameters: [], result: "u64" },
  // ssize_t process_vm_readv(pid_t pid, const struct iovec *local_iov, unsigned long liovcnt,
  //     const struct iovec *remote_iov, unsigned long riovcnt, unsigned long flags)
  process_vm_readv: {
    parameters: ["i32", "buffer", "u64", "buffer", "u64", "u64"],
    result: "isize",
  },
  // void *memcpy(void *dest, const void *src, size_t n): from an address into an array
  copyOut: { name: "memcpy", parameters: ["buffer", "u64", "usize"], result: "u64" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Sockets between processes of one machine, which can carry file descriptors. */
const SOCKETS = {
  // int dup3(int oldfd, int newfd, int flags)
  dup3: { parameters: ["i32", "i32", "i32"], result: "i32" },
  // int socket(int domain, int type, int protocol)
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  // int bind(int sockfd, const struct sockaddr *addr, socklen_t addrlen)
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  // int listen(int sockfd, int backlog)
  listen: { parameters: ["i32", "i32"], result: "i32" },
  // int connect(int sockfd, const struct sockaddr *addr, socklen_t addrlen)
  connect: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  // int accept4(int sockfd, struct sockaddr *addr, socklen_t *addrlen, int flags)
  accept4: { parameters: ["i32", "buffer", "buffer", "i32"], result: "i32" },
  // ssize_t sendmsg(int sockfd, const struct msghdr *msg, int flags)
  sendmsg: { parameters: ["i32", "buffer", "i32"], result: "isize" },
  // ssize_t recvmsg(int sockfd, struct msghdr *msg, int flags)
  recvmsg: { parameters: ["i32", "buffer", "i32"], result: "isize" },
  // int getsockopt(int sockfd, int level, int optname, void *optval, socklen_t *optlen)
  getsockopt: { parameters: ["i32", "i32", "i32", "buffer", "buffer"], result: "i32" },
  // uid_t geteuid(void)
  geteuid: { parameters: [], result: "u32" },
  // int memfd_create(const char *name, unsigned int flags)
  memfd_create: { parameters: ["buffer", "u32"], result: "i32" },
  // int fcntl(int fd, int op, ... /* int arg */)
  fcntl: { parameters: ["i32", "i32", "i32"], result: "i32" },
  // int poll(struct pollfd *fds, nfds_t nfds, int timeout)
  pollNonblocking: { name: "poll", parameters: ["buffer", "u64", "i32"], ...INT_LATER },
  // int mkdir(const char *path, mode_t mode)
  mkdir: { parameters: ["buffer", "u32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The calls of a process that keeps descriptors for others, and has only the C library. */
export const KEEPER_CALLS = {
  addressOf: ARRAYS.addressOf,
  open: IMMEDIATE.open,
  close: IMMEDIATE.close,
  flock: FILES.flock,
  getrlimit: FILES.getrlimit,
  readlink: FILES.readlink,
  statx: FILES.statx,
  errnoLocation: FILES.errnoLocation,
  copyOut: FILES.copyOut,
  socket: SOCKETS.socket,
  bind: SOCKETS.bind,
  listen: SOCKETS.listen,
  accept4: SOCKETS.accept4,
  sendmsg: SOCKETS.sendmsg,
  recvmsg: SOCKETS.recvmsg,
  getsockopt: SOCKETS.getsockopt,
  geteuid: SOCKETS.geteuid,
  memfd_create: SOCKETS.memfd_create,
  fcntl: SOCKETS.fcntl,
  // ssize_t pread(int fd, void *buf, size_t count, off_t offset)
  pread: { parameters: ["i32", "buffer", "usize", "i64"], result: "isize" },
  // ssize_t pwrite(int fd, const void *buf, size_t count, off_t offset)
  pwrite: { parameters: ["i32", "buffer", "usize", "i64"], result: "isize" },
  // mode_t umask(mode_t mask)
  umask: { parameters: ["u32"], result: "u32" },
  // int unlink(const char *pathname)
  unlink: { parameters: ["buffer"], result: "i32" },
  poll: SOCKETS.pollNonblocking,
  // long syscall(long number, ...), for SYS_pidfd_open:
  // int pidfd_open(pid_t pid, unsigned int flags)
  pidfd_open: { name: "syscall", parameters: ["isize", "i32", "u32"], result: "isize" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The function tables: the first is bound when the library is opened. */
export const HOST_GROUPS = [ARRAYS, LANES, IMMEDIATE, ELSEWHERE, FILES, SOCKETS] as const;

/** The C library's functions. */
export type HostApi = BoundGroups<typeof HOST_GROUPS>;

/** A part of memory, for `process_vm_readv` and messages: `struct iovec` of sys/uio.h. */
export const IOVEC = struct({ iov_base: u64, iov_len: u64 });

/** Advice of `madvise` for pages: `MADV_*` of sys/mman.h on Linux. */
export const MADV = { DONTNEED: 4, HUGEPAGE: 14, POPULATE_WRITE: 23 } as const;

/** The size of a page among the values of `sysconf`: `_SC_PAGESIZE` of bits/confname.h on Linux. */
export const SC_PAGESIZE = 30;

/** Parameters of the heap: `M_*` of malloc.h. */
export const MALLOPT = { TRIM_THRESHOLD: -1, MMAP_THRESHOLD: -3 } as const;

/** Protection and flags of `mmap`: `PROT_*` and `MAP_*` of sys/mman.h on Linux. */
export const PROT = { READ: 1, WRITE: 2 } as const;
export const MAP = { SHARED: 1, PRIVATE: 2, ANONYMOUS: 0x20 } as const;

/** Result of `mmap` when it fails: `MAP_FAILED` of sys/mman.h. */
export const MAP_FAILED: bigint = 2n ** 64n - 1n;

/** Flags of `open`: `O_*` of fcntl.h on Linux, those with the same value on all machines. */
export const O = {
  RDONLY: 0,
  WRONLY: 1,
  RDWR: 2,
  CREAT: 0o100,
  TRUNC: 0o1000,
  NONBLOCK: 0o4000,
  CLOEXEC: 0o2000000,
} as const;

/** Flags of `open` that differ between machines: arm64's asm/fcntl.h has numbers of its own. */
export const O_OF_MACHINE: { readonly NOFOLLOW: number; readonly DIRECTORY: number } =
  Deno.build.arch === "aarch64"
    ? { DIRECTORY: 0o40000, NOFOLLOW: 0o100000 }
    : { DIRECTORY: 0o200000, NOFOLLOW: 0o400000 };

/** Advice of `posix_fadvise` about bytes that are not needed: `POSIX_FADV_DONTNEED` of fcntl.h on x86 and arm64. */
export const POSIX_FADV_DONTNEED = 4;

/** Opens only a reference to a file, not its contents: `O_PATH` of fcntl.h on Linux. */
export const O_PATH = 0o10000000;

/** Operations of `flock`: `LOCK_*` of sys/file.h. */
export const LOCK = { EX: 2, NB: 4, UN: 8 } as const;

/** Flags of `statx`: `AT_*` of fcntl.h on Linux. */
export const AT = { FDCWD: -100, SYMLINK_NOFOLLOW: 0x100, EMPTY_PATH: 0x1000 } as const;

/** Facts that `statx` should find out: `STATX_BASIC_STATS` of linux/stat.h. */
export const STATX_BASIC_STATS = 0x7ff;

/** Something is mounted on this very path: `STATX_ATTR_MOUNT_ROOT` of linux/stat.h. */
export const STATX_ATTR_MOUNT_ROOT = 0x2000n;

/** Result of `statx`, the same on all machines: `struct statx` of linux/stat.h. */
export const STATX = struct({
  mask: u32,
  blockSize: u32,
  attributes: u64,
  linkCount: u32,
  uid: u32,
  gid: u32,
  mode: u16,
  spare: u16,
  inode: u64,
  size: u64,
  blocks: u64,
  attributesMask: u64,
  times: bytes(64),
  deviceMajorOfNode: u32,
  deviceMinorOfNode: u32,
  deviceMajor: u32,
  deviceMinor: u32,
  mountId: u64,
  rest: bytes(104),
});

/** A time of `statx`, and all four: `struct statx_timestamp` and its uses in linux/stat.h. */
export const STATX_TIME = struct({ seconds: u64, nanoseconds: u32, spare: i32 });
export const STATX_TIMES = struct({
  accessed: STATX_TIME,
  born: STATX_TIME,
  changed: STATX_TIME,
  modified: STATX_TIME,
});

/** The kind of a file in its mode: `S_IF*` of sys/stat.h. */
export const S_IF = {
  MT: 0o170000,
  SOCK: 0o140000,
  LNK: 0o120000,
  REG: 0o100000,
  BLK: 0o060000,
  DIR: 0o040000,
  CHR: 0o020000,
  IFO: 0o010000,
} as const;

/** Family, kind and options of a socket: `AF_*`, `SOCK_*`, `SOL_*`, `SO_*` of sys/socket.h on Linux. */
export const AF_UNIX = 1;
export const SOCK = { SEQPACKET: 5, NONBLOCK: 0o4000, CLOEXEC: 0o2000000 } as const;
export const SOL_SOCKET = 1;
export const SO_PEERCRED = 17;
export const SCM_RIGHTS = 1;

/** Flags of `sendmsg` and `recvmsg`: `MSG_*` of sys/socket.h on Linux. */
export const MSG = {
  DONTWAIT: 0x40,
  NOSIGNAL: 0x4000,
  CMSG_CLOEXEC: 0x40000000,
} as const;

/** Address of a socket: `struct sockaddr_un` of sys/un.h. */
export const SOCKADDR_UN = struct({ sun_family: u16, sun_path: bytes(108) });

/** A descriptor to wait for: `struct pollfd` of poll.h. */
export const POLLFD = struct({ fd: i32, events: u16, revents: u16 });

/** The process at the other end: `struct ucred` of sys/socket.h. */
export const UCRED = struct({ pid: i32, uid: u32, gid: u32 });

/** Operations of `fcntl` on the flag that ends a descriptor with exec: `F_*`, `FD_CLOEXEC` of fcntl.h. */
export const F = { GETFD: 1, SETFD: 2 } as const;
export const FD_CLOEXEC = 1;

/** Events of `poll`: `POLL*` of poll.h. */
export const POLLIN = 1;

/** Number of the call that refers to a process: `SYS_pidfd_open` of sys/syscall.h on Linux. */
export const SYS_PIDFD_OPEN = 434n;

/** Flags of `memfd_create`: `MFD_*` of sys/mman.h. */
export const MFD_CLOEXEC = 1;

/** Reasons for the failure of a call: the numbers of errno.h on Linux, alike on x86-64 and ARM64. */
export const ERRNO = {
  EPERM: 1,
  ENOENT: 2,
  EINTR: 4,
  EIO: 5,
  EAGAIN: 11,
  EACCES: 13,
  EFAULT: 14,
  EBUSY: 16,
  EXDEV: 18,
  ENOTDIR: 20,
  EISDIR: 21,
  ENFILE: 23,
  EMFILE: 24,
  EFBIG: 27,
  ENOSPC: 28,
  ESPIPE: 29,
  EROFS: 30,
  ENAMETOOLONG: 36,
  ENOLCK: 37,
  ENOSYS: 38,
  ELOOP: 40,
  EOPNOTSUPP: 95,
  ECONNREFUSED: 111,
  EDQUOT: 122,
} as const;

/** Limits of a process, of the size of its files and of its descriptors: `RLIMIT_*` of sys/resource.h. */
export const RLIMIT_FSIZE = 1;
export const RLIMIT_NOFILE = 7;

/** Bytes of the longest path with its NUL: `PATH_MAX` of linux/limits.h. */
export const PATH_MAX = 4096;

/** Bytes of the longest name in a folder: `NAME_MAX` of linux/limits.h. */
export const NAME_MAX = 255;

/** Number of the futex call: `SYS_futex` of sys/syscall.h on Linux. */
export const SYS_FUTEX = Deno.build.arch === "aarch64" ? 98n : 202n;

/** Number of the mbind call: `SYS_mbind` of sys/syscall.h on Linux. */
export const SYS_MBIND = Deno.build.arch === "aarch64" ? 235n : 237n;

/** Takes pages from a node, or from others when it has none left: `MPOL_*` of numaif.h. */
export const MPOL_PREFERRED = 1;

/** Bytes of a set of processors, of which there are at most 1,024: `cpu_set_t` of sched.h. */
export const CPU_SET_BYTES = 128;

/** Operations of a futex call, among the threads of one process: `FUTEX_*` of linux/futex.h. */
export const FUTEX = { WAIT_PRIVATE: 128, WAKE_PRIVATE: 129 } as const;

/** Names of the C library where it can be used; the paths serve `--allow-ffi=<path>`. */
export const HOST_NAMES: readonly string[] = Deno.build.os !== "linux" ? [] : [
  "libc.so.6",
  `/usr/lib/${Deno.build.arch}-linux-gnu/libc.so.6`,
  `/lib/${Deno.build.arch}-linux-gnu/libc.so.6`,
  "/usr/lib64/libc.so.6",
  "/lib64/libc.so.6",
  "/usr/lib/libc.so.6",
];

let host: OpenLibrary<HostApi> | undefined;
let page: number | undefined;

/**
 * Opens the C library, once for a process.
 *
 * @throws LibraryError when there is no permission, and on systems other than Linux.
 */
export function openHost(): HostApi {
  host ??= bindHost({ prompts: true });
  return host.api;
}

/** Returns the name or path by which another thread can open the C library. */
export function hostLibrary(): string {
  openHost();
  return host?.path ?? "";
}

/** Opens the C library if that needs no prompt; undefined otherwise. */
export function findHost(): HostApi | undefined {
  if (HOST_NAMES.length === 0) return undefined; // at once: transfers ask for each array
  try {
    host ??= bindHost({ prompts: false });
    return host.api;
  } catch (error) {
    if (error instanceof LibraryError) return undefined;
    throw error;
  }
}

/** Returns the size of a page, as the system says: ARM64 kernels have pages of 4, 16 or 64 KiB. */
export function pageBytes(): number {
  return page ??= Number(findHost()?.sysconf(SC_PAGESIZE) ?? 4096);
}

function bindHost({ prompts }: { readonly prompts: boolean }): OpenLibrary<HostApi> {
  return openLibrary({
    title: "the C library",
    candidates: HOST_NAMES,
    remedy: "loading and saving files by their path needs Linux, elsewhere use " +
      "gpu.from(file.readable) and Deno.writeFile(path, buffer.readable)",
    prompts,
  }, HOST_GROUPS);
}
