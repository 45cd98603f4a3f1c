// The system's loader: makes a library's symbols visible to the whole process, and finds addresses
// of functions. Its calls are in the C library since glibc 2.34, and in a library of their own
// before.

import { cString } from "./c_strings.ts";
import { HOST_NAMES } from "./host.ts";
import { openLibrary } from "./library.ts";

const LOADER = {
  // void *dlopen(const char *filename, int flags)
  dlopen: { parameters: ["buffer", "i32"], result: "u64" },
  // void *dlsym(void *restrict handle, const char *restrict symbol)
  dlsym: { parameters: ["u64", "buffer"], result: "u64" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Flags of `dlopen`: `RTLD_*` of dlfcn.h on Linux. */
const RTLD = { NOW: 2, GLOBAL: 0x100, NODELETE: 0x1000 } as const;

let opened: Deno.DynamicLibrary<typeof LOADER>["symbols"] | undefined;

/**
 * Makes a library's symbols visible to libraries that are opened later, for the life of the
 * process; does nothing when it cannot be opened.
 *
 * @throws LibraryError when there is no permission, and on systems other than Linux.
 */
export function showLibrary(path: string): void {
  open().dlopen(cString(path), RTLD.NOW | RTLD.GLOBAL | RTLD.NODELETE);
}

/**
 * Returns the address of a function of the process; 0n where there is none.
 *
 * @throws LibraryError when there is no permission, and on systems other than Linux.
 */
export function functionAddress(name: string): bigint {
  return open().dlsym(0n, cString(name));
}

function open(): Deno.DynamicLibrary<typeof LOADER>["symbols"] {
  opened ??= openLibrary({
    title: "the system's loader",
    candidates: Deno.build.os === "linux" ? [...HOST_NAMES, "libdl.so.2"] : [],
    remedy: "handing memory to other libraries needs Linux",
  }, [LOADER]).api;
  return opened;
}
