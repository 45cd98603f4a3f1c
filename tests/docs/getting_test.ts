// The page that says how to get the kit names all that there is to import.

import { assertEquals, assertStringIncludes } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { RELEASE_FILES } from "../../release/bundle.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";

const page = Deno.readTextFileSync(new URL("docs/getting.md", PROJECT_ROOT));

Deno.test("docs/getting.md lists the entries that a project beside a clone imports", () => {
  const [, list = ""] = /and the other\s+entries: ([^.]+)\./.exec(page) ?? [];
  const entries = Object.keys(config.exports).map((entry) => entry.slice("./".length));
  const others = entries.filter((entry) => !["", "notebook", "cli"].includes(entry));
  assertEquals([...list.matchAll(/`(\w+)`/g)].map(([, name]) => name), others.sort());
});

Deno.test("docs/getting.md lists the entries in each file of a release", () => {
  for (const [file, entries] of Object.entries(RELEASE_FILES)) {
    const row = page.split("\n").find((line) => line.startsWith(`| \`${file}.js\``)) ?? "";
    for (const entry of entries) {
      if (entry === "./cli") continue; // in words
      assertStringIncludes(row, entry === "." ? "`mod.ts`" : `\`${entry.slice("./".length)}\``);
    }
  }
});
