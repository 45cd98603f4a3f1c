// The version is written twice, because a module that is imported by URL cannot read deno.json, and
// in addresses. All must agree, and the changelog must know it.

import { assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { VERSION } from "../../src/words/version.ts";
import { PROJECT_ROOT, projectFiles } from "../support/project_files.ts";

Deno.test("VERSION is the version of deno.json", () => {
  assertEquals(VERSION, config.version);
});

Deno.test("VERSION has the newest chapter of the changelog", () => {
  const changelog = Deno.readTextFileSync(new URL("CHANGELOG.md", PROJECT_ROOT));
  const [newest] = changelog.matchAll(/^## (\d.*)$/gm);
  assertEquals(newest?.[1], VERSION);
});

Deno.test("VERSION is the one of all addresses in the documentation", () => {
  const addresses = projectFiles([".md", ".ipynb"])
    .flatMap(({ text }) => [...text.matchAll(/vramkit(?:\/v|@)(\d+\.\d+\.\d+)/g)])
    .map(([, version]) => version);
  assertEquals([...new Set(addresses)], [VERSION]);
});
