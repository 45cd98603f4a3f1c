// The version is written in two places, because a module that is imported by URL cannot read deno.json.
// They must agree, and the changelog must know it.

import { assertEquals, assertStringIncludes } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { VERSION } from "../../src/words/version.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";

Deno.test("VERSION is the version of deno.json", () => {
  assertEquals(VERSION, config.version);
});

Deno.test("VERSION has a chapter in the changelog", () => {
  const changelog = Deno.readTextFileSync(new URL("CHANGELOG.md", PROJECT_ROOT));
  assertStringIncludes(changelog, `\n## ${VERSION}`);
});
