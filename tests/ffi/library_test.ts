// Checks how libraries are found and bound, on the C library and in children with fewer permissions.
// No test needs a GPU: a driver that is missing or wrong is what most of them are about.

import { assert, assertEquals, assertFalse, assertStringIncludes, assertThrows } from "@std/assert";
import {
  bindLazily,
  LibraryError,
  type LibrarySearch,
  openDriver,
  openLibrary,
} from "../../ffi/library.ts";
import { runWith } from "../support/child_deno.ts";

const LIBC = "libc.so.6";
const ABS = { abs: { parameters: ["i32"], result: "i32" } } as const;
const SIZES = {
  strlen: { parameters: ["buffer"], result: "usize" },
  labs: { parameters: ["i64"], result: "i64" },
} as const;
const ABSENT = { no_such_function: { parameters: [], result: "void" } } as const;
const linux = { ignore: Deno.build.os !== "linux" };

function getterNames(api: object): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(api))
    .filter(([, descriptor]) => descriptor.get !== undefined)
    .map(([name]) => name).sort();
}

function search(...candidates: string[]): LibrarySearch {
  return { title: "the test library", candidates, remedy: "mend it" };
}

Deno.test("bindLazily() binds the first group only", linux, () => {
  assertEquals(getterNames(bindLazily(LIBC, [ABS, SIZES])), ["labs", "strlen"]);
});

Deno.test("bindLazily() binds each other function when it is read", linux, () => {
  const api = bindLazily(LIBC, [ABS, SIZES]);
  assertEquals(api.labs(-5n), 5n);
  assertEquals(getterNames(api), ["strlen"]);
  assertEquals(api.strlen(new Uint8Array([65, 66, 0])), 2n);
  assertEquals(getterNames(api), []);
});

Deno.test("bindLazily() leaves a function bound when it is read again", linux, () => {
  const api = bindLazily(LIBC, [ABS, SIZES]);
  assertEquals(api.labs, api.labs);
});

Deno.test("bindLazily() lets a spread copy and replace functions", linux, () => {
  const api = { ...bindLazily(LIBC, [ABS, SIZES]), abs: () => 42 };
  assertEquals([api.abs(), api.labs(-7n)], [42, 7n]);
});

Deno.test("bindLazily() names a function that the library lacks when it is read", linux, () => {
  const api = bindLazily(LIBC, [ABS, { ...SIZES, ...ABSENT }]);
  assertEquals([api.abs(-3), api.labs(-4n)], [3, 4n]);
  const error = assertThrows(() => api.no_such_function, LibraryError, "no_such_function");
  assertEquals(error.reason, "bad-library");
});

Deno.test("openLibrary() takes the first candidate that is there", linux, () => {
  const { api, path } = openLibrary(search("/absent/lib.so", LIBC), [ABS]);
  assertEquals(path, LIBC);
  assertEquals(api.abs(-1), 1);
});

Deno.test("openLibrary() skips a candidate that is no library", linux, () => {
  assertEquals(openLibrary(search(import.meta.filename ?? "", LIBC), [ABS]).path, LIBC);
});

Deno.test("openLibrary() lists every name it tried", linux, () => {
  const error = assertThrows(
    () => openLibrary(search("/absent/a.so", "libabsent.so"), [ABS]),
    LibraryError,
    "Cannot open the test library: tried /absent/a.so, libabsent.so; mend it",
  );
  assertEquals(error.reason, "no-library");
  assertEquals(error.tried, ["/absent/a.so", "libabsent.so"]);
});

Deno.test("openDriver() tells a file that is no library from a missing one", linux, () => {
  const libraryPath = import.meta.filename ?? "";
  const error = assertThrows(() => openDriver({ libraryPath }), LibraryError);
  assertEquals(error.reason, "bad-library");
  assertEquals(
    error.message,
    `Cannot open the CUDA driver: ${libraryPath} cannot be used (invalid ELF header); ` +
      "pass { libraryPath } or set VRAMKIT_CUDA",
  );
});

Deno.test("openDriver() tells a library that is not the driver", linux, () => {
  const error = assertThrows(() => openDriver({ libraryPath: LIBC }), LibraryError);
  assertEquals(error.reason, "bad-library");
  assertStringIncludes(error.message, `${LIBC} cannot be used (undefined symbol: cu`);
});

Deno.test("openDriver() tries nothing but the path it is given", () => {
  const error = assertThrows(() => openDriver({ libraryPath: "/absent/cuda.so" }), LibraryError);
  assertEquals(error.reason, "no-library");
  assertEquals(error.tried, ["/absent/cuda.so"]);
});

/** Opens the driver in a child with its own permissions and returns what happened there. */
async function openInChild(
  flags: string[],
  options: { libraryPath?: string; variable?: string } = {},
): Promise<{ reason: string; tried: string[]; message: string }> {
  const library = import.meta.resolve("../../ffi/library.ts");
  const { stdout, stderr } = await runWith(
    flags,
    `import { openDriver } from ${JSON.stringify(library)};
     try {
       const { path } = openDriver(${JSON.stringify({ libraryPath: options.libraryPath })});
       console.log(JSON.stringify({ reason: "opened", tried: [path], message: "" }));
     }
     catch ({ reason, tried, message }) {
       console.log(JSON.stringify({ reason, tried, message }));
     }`,
    options.variable === undefined ? {} : { VRAMKIT_CUDA: options.variable },
  );
  assert(stdout !== "", stderr);
  return JSON.parse(stdout);
}

async function resolvedLibc(): Promise<string> {
  const maps = await Deno.readTextFile("/proc/self/maps");
  return /\S*\/libc\.so\.6$/m.exec(maps)?.[0] ?? "";
}

Deno.test("openDriver() names the flag when ffi access is not granted", async () => {
  const { reason, message } = await openInChild([]);
  assertEquals(reason, "permission");
  assertStringIncludes(message, "Cannot open the CUDA driver: access to native libraries");
  assertStringIncludes(message, "run again with --allow-ffi");
});

Deno.test("openDriver() opens a path that --allow-ffi names", linux, async () => {
  const libc = await resolvedLibc();
  const { reason, tried } = await openInChild([`--allow-ffi=${libc}`], { libraryPath: libc });
  assertEquals([reason, tried], ["bad-library", [libc]]);
});

Deno.test("openDriver() misses permission when --allow-ffi names another path", linux, async () => {
  const { reason } = await openInChild([`--allow-ffi=${await resolvedLibc()}`]);
  assertEquals(reason, "permission");
});

Deno.test("openDriver() takes the path in VRAMKIT_CUDA", async () => {
  const { tried } = await openInChild(["--allow-ffi", "--allow-env=VRAMKIT_CUDA"], {
    variable: "/absent/cuda.so",
  });
  assertEquals(tried, ["/absent/cuda.so"]);
});

Deno.test("openDriver() prefers libraryPath to VRAMKIT_CUDA", async () => {
  const { tried } = await openInChild(["--allow-ffi", "--allow-env"], {
    libraryPath: "/absent/chosen.so",
    variable: "/absent/cuda.so",
  });
  assertEquals(tried, ["/absent/chosen.so"]);
});

Deno.test("openDriver() leaves VRAMKIT_CUDA alone when it may not read it", async () => {
  const { tried } = await openInChild(["--allow-ffi"], { variable: "/absent/cuda.so" });
  assertFalse(tried.includes("/absent/cuda.so"));
});
