// A function of the C library that a stream can call: `getpid`, which takes nothing and does nothing.
// One of JavaScript's own would need the thread that waits for the stream.

let found: Deno.PointerValue | undefined;

/** Returns the function's address; null where it cannot be found. */
export function hostFunction(): Deno.PointerValue {
  found ??= find();
  return found;
}

function find(): Deno.PointerValue {
  // From glibc 2.34 on, dlsym is in the C library itself.
  for (const name of ["libc.so.6", "libdl.so.2"]) {
    try {
      const { symbols } = Deno.dlopen(name, {
        dlsym: { parameters: ["u64", "buffer"], result: "pointer" },
      });
      return symbols.dlsym(0n, new TextEncoder().encode("getpid\0"));
    } catch {
      // The other library has it.
    }
  }
  return null;
}
