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
import { testOnLinux } from "../support/test_unless.ts";

const LIBC = "libc.so.6";
const ABS = { abs: { parameters: ["i32"], result: "i32" } } as const;
const SIZES = {
  strlen: { parameters: ["buffer"], result: "usize" },
  labs: { parameters: ["i64"], result: "i64" },
} as const;
const ABSENT = { no_such_function: { parameters: [], result: "void" } } as const;
function getterNames(api: object): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(api))
    .filter(([, descriptor]) => descriptor.get !== undefined)
    .map(([name]) => name).sort();
}

function search(...candidates: string[]): LibrarySearch {
  return { title: "the test library", candidates, remedy: "mend it" };
}

testOnLinux("bindLazily() binds the first group only", () => {
  assertEquals(getterNames(bindLazily(LIBC, [ABS, SIZES])), ["labs", "strlen"]);
});

testOnLinux("bindLazily() binds each other function when it is read", () => {
  const api = bindLazily(LIBC, [ABS, SIZES]);
  assertEquals(api.labs(-5n), 5n);
  assertEquals(getterNames(api), ["strlen"]);
  assertEquals(api.strlen(new Uint8Array([65, 66, 0])), 2n);
  assertEquals(getterNames(api), []);
});

testOnLinux("bindLazily() leaves a function bound when it is read again", () => {
  const api = bindLazily(LIBC, [ABS, SIZES]);
  assertEquals(api.labs, api.labs);
});

testOnLinux("bindLazily() lets a spread copy and replace functions", () => {
  const api = { ...bindLazily(LIBC, [ABS, SIZES]), abs: () => 42 };
  assertEquals([api.abs(), api.labs(-7n)], [42, 7n]);
});

testOnLinux("bindLazily() names a function that the library lacks when it is read", () => {
  const api = bindLazily(LIBC, [ABS, { ...SIZES, ...ABSENT }]);
  assertEquals([api.abs(-3), api.labs(-4n)], [3, 4n]);
  const error = assertThrows(() => api.no_such_function, LibraryError, "no_such_function");
  assertEquals(error.reason, "bad-library");
});

testOnLinux("openLibrary() takes the first candidate that is there", () => {
  const { api, path } = openLibrary(search("/absent/lib.so", LIBC), [ABS]);
  assertEquals(path, LIBC);
  assertEquals(api.abs(-1), 1);
});

testOnLinux("openLibrary() skips a candidate that is no library", () => {
  assertEquals(openLibrary(search(import.meta.filename ?? "", LIBC), [ABS]).path, LIBC);
});

testOnLinux("openLibrary() lists every name it tried", () => {
  const error = assertThrows(
    () => openLibrary(search("/absent/a.so", "libabsent.so"), [ABS]),
    LibraryError,
    "Cannot open the test library: tried /absent/a.so, libabsent.so; mend it",
  );
  assertEquals(error.reason, "no-library");
  assertEquals(error.tried, ["/absent/a.so", "libabsent.so"]);
});

testOnLinux("openDriver() tells a file that is no library from a missing one", () => {
  const libraryPath = import.meta.filename ?? "";
  const error = assertThrows(() => openDriver({ libraryPath }), LibraryError);
  assertEquals(error.reason, "bad-library");
  assertEquals(
    error.message,
    `Cannot open the CUDA driver: ${libraryPath} cannot be used (invalid ELF header); ` +
      "pass { libraryPath } or set VRAMKIT_CUDA",
  );
});

testOnLinux("openDriver() tells a library that is not the driver", () => {
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

testOnLinux("openDriver() opens a path that --allow-ffi names", async () => {
  const libc = await resolvedLibc();
  const { reason, tried } = await openInChild([`--allow-ffi=${libc}`], { libraryPath: libc });
  assertEquals([reason, tried], ["bad-library", [libc]]);
});

testOnLinux("openDriver() misses permission when --allow-ffi names another path", async () => {
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
