// Paths and links: one name for each file, and words for all else.

import { assertEquals, assertLess, assertThrows } from "@std/assert";
import { join } from "node:path";
import { type FilePath, pathOf, realPathOf, requireAccess } from "../../../src/disk/file_path.ts";
import { runWithCollector } from "../../support/collector_program.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { inTurn, testOnLinux } from "../../support/test_unless.ts";

Deno.test("pathOf() makes every spelling of a path absolute", () => {
  const here = Deno.cwd();
  assertEquals(pathOf("a/b"), join(here, "a/b"));
  assertEquals(pathOf("./a//b/"), join(here, "a/b"));
  assertEquals(pathOf("/x/../a/./b"), "/a/b");
  assertEquals(pathOf(new URL("file:///a/b%20c")), "/a/b c");
  assertEquals(pathOf(new URL("file:///a%0Ab")), "/a\nb");
  assertEquals(pathOf("/a%20b"), "/a%20b"); // a name like any other
});

Deno.test("pathOf() names a value that is not a path", () => {
  const wrong: readonly [given: unknown, message: string][] = [
    ["", 'Cannot use "" as a path: expected a text that is not empty'],
    ["a\0b", 'Cannot use "a\\u0000b" as a path'],
    [5, "Cannot use the number 5 as a path"],
    [undefined, "Cannot use undefined as a path"],
    ["file:///a/b", "Cannot use file:///a/b as a path: it is a URL as text"],
    [new URL("file:///a%2Fb"), "Cannot use file:///a%2Fb as a path: "],
    [new URL("file:///a%00b"), "Cannot use file:///a%00b as a path: "],
    [new URL("file:///a%FF"), "Cannot use file:///a%FF as a path: "],
    [new URL("file://host/a"), "Cannot use file://host/a as a path: "],
    [new URL("https://host/a"), "Cannot use https://host/a as a path: it is an address of"],
    ["https://host/a", "Cannot use https://host/a as a path: it is an address of the web"],
    ["blob:null/5", "Cannot use blob:null/5 as a path: it is an address of the web"],
    ["/a\ud800", 'Cannot use "/a\\ud800" as a path: it has half of a surrogate pair'],
    [new Proxy(new URL("file:///a"), {}), "Cannot use a Proxy of a URL as a path: "],
  ];
  for (const [given, message] of wrong) {
    assertThrows(() => pathOf(given as FilePath), TypeError, message);
  }
});

testOnLinux("pathOf() says that the current folder is gone, for a relative path", () => {
  const before = Deno.cwd();
  using folder = new TemporaryFolder();
  Deno.mkdirSync(folder.pathOf("gone"));
  Deno.chdir(folder.pathOf("gone"));
  try {
    Deno.removeSync(folder.pathOf("gone"));
    const words = "Cannot use a/b as a path: it is relative, and the current folder is gone";
    assertThrows(() => pathOf("a/b"), Deno.errors.NotFound, words);
    assertEquals(pathOf("/a/b"), "/a/b");
  } finally {
    Deno.chdir(before);
  }
});

Deno.test("realPathOf() finds one name for a file behind all of its links", () => {
  using folder = new TemporaryFolder();
  const real = join(Deno.realPathSync(folder.path), "folder/file");
  Deno.mkdirSync(folder.pathOf("folder"));
  folder.write("folder/file", new Uint8Array());
  Deno.symlinkSync("folder", folder.pathOf("near"));
  Deno.symlinkSync(folder.pathOf("near/file"), folder.pathOf("far"));
  for (const spelling of ["folder/file", "near/file", "far"]) {
    assertEquals(realPathOf(folder.pathOf(spelling)), real);
  }
});

Deno.test("realPathOf() tells where a file would be made, also behind a dangling link", () => {
  using folder = new TemporaryFolder();
  const real = Deno.realPathSync(folder.path);
  Deno.mkdirSync(folder.pathOf("deep"));
  Deno.symlinkSync("../new", folder.pathOf("deep/link"));
  Deno.symlinkSync("deep/link", folder.pathOf("chain"));
  Deno.symlinkSync(folder.path, folder.pathOf("deep/back"));
  assertEquals(realPathOf(folder.pathOf("new")), join(real, "new"));
  assertEquals(realPathOf(folder.pathOf("chain")), join(real, "new"));
  assertEquals(realPathOf(folder.pathOf("deep/back/new")), join(real, "new"));
});

Deno.test("realPathOf() says what is wrong on the way", () => {
  using folder = new TemporaryFolder();
  Deno.symlinkSync("b", folder.pathOf("a"));
  Deno.symlinkSync("a", folder.pathOf("b"));
  folder.write("file", new Uint8Array());
  const { NotFound, FilesystemLoop, NotADirectory } = Deno.errors;
  assertThrows(() => realPathOf(folder.pathOf("none/file")), NotFound, "none does not exist");
  assertThrows(() => realPathOf(folder.pathOf("a")), FilesystemLoop, "links go in a circle");
  assertThrows(() => realPathOf(folder.pathOf("file/x")), NotADirectory, "not a folder");
  const long = folder.pathOf("x".repeat(300));
  assertThrows(() => realPathOf(long), Error, "the path is too long");
});

Deno.test("requireAccess() asks for no more than it is given", {
  permissions: { read: ["/a"], write: ["/b"], ffi: true },
}, () => {
  requireAccess("/a/x", "read");
  requireAccess("/b/x", "write");
  const { NotCapable } = Deno.errors;
  assertThrows(() => requireAccess("/a/x", "write"), NotCapable, "write access is not granted");
  assertThrows(() => requireAccess("/b/x", "read"), NotCapable, "Cannot read /b/x: read access");
});

Deno.test(
  inTurn("requireAccess() keeps nothing of the paths that a program uses, where it may use all"),
  async () => {
    const { result } = await runWithCollector(`
    const { requireAccess } = await import(${
      JSON.stringify(import.meta.resolve("../../../src/disk/file_path.ts"))
    });
    return await growthOf(4000, (number) => requireAccess("/folder/file " + number, "read"));
  `);
    assertEquals(Number(result) < 100, true, `${result} bytes a path`);
  },
);

Deno.test("pathOf() shows no more than the start of a long address", () => {
  const url = new URL(`data:text/plain,${"a".repeat(10_000)}`);
  const { message } = assertThrows(() => pathOf(url), TypeError, "Cannot use data:text/plain,aaa");
  assertLess(message.length, 400);
});
