// The address of the repository is written everywhere, and stays findable for the next time.

import { assertEquals, assertThrows } from "@std/assert";
import { addressIn, readAddress, withAddress } from "../../release/address.ts";
import { PROJECT_ROOT, projectFiles } from "../support/project_files.ts";

const texts = projectFiles([".md", ".ipynb"]);
const here = addressIn(Deno.readTextFileSync(new URL("README.md", PROJECT_ROOT)));

Deno.test("withAddress() leaves nothing of another address in any text, and goes back", () => {
  const there = "https://code.example.org/team/vramkit";
  for (const { path, text } of texts) {
    const moved = withAddress(text, [here, there]);
    assertEquals(moved.includes(new URL(here).pathname), false, path);
    assertEquals(withAddress(moved, [there, here]), text, path);
  }
});

Deno.test("withAddress() names the files of a version as the host serves them", () => {
  const move = [here, "https://github.com/a/b"] as const;
  assertEquals(
    withAddress(`${here} ${here}/releases/x ${here}-fork raw.txt`, move),
    `https://github.com/a/b https://github.com/a/b/releases/x ${here}-fork raw.txt`,
  );
  const raw = "https://raw.githubusercontent.com/a/b/v0.2.0/mod.ts";
  assertEquals(
    withAddress(raw, ["https://github.com/a/b", "https://codeberg.org/c/d"]),
    "https://codeberg.org/c/d/raw/v0.2.0/mod.ts",
  );
});

Deno.test("readAddress() takes the address of a repository, and nothing else", () => {
  assertEquals(readAddress("https://github.com/a/b.git"), "https://github.com/a/b");
  assertEquals(readAddress("https://github.com/a/b/"), "https://github.com/a/b");
  for (
    const wrong of [
      undefined,
      "",
      "a/b",
      "http://a.b/c",
      "https://a.b/",
      "git@a.b:c/d",
      "https://a.b/$(c)",
    ]
  ) {
    assertThrows(() => readAddress(wrong), TypeError, "expected one such as https://github.com/");
  }
});

Deno.test("no text names an address of the kit that a release would not write", () => {
  const others = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/https?:\/\/[\w./@-]*vramkit[@/][\w./@-]*/g)].map(([address]) => address)
      .filter((address) =>
        !/^https:\/\/(github|raw\.githubusercontent)\.com\/OWNER\/|^https:\/\/jsr\.io\//.test(
          address,
        )
      )
      .map((address) => `${path}: ${address}`)
  );
  assertEquals(others, here.includes("OWNER") ? [] : others);
});
