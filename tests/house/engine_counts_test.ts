// The size of the engine: what one person has to hold in the head to know how bytes move. Each count may
// shrink, and whoever lets one grow says why by raising its limit here.

import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { MECHANISMS } from "../../bench/ablation.ts";
import { runDeno } from "../support/child_deno.ts";
import { PROJECT_ROOT, projectFiles } from "../support/project_files.ts";

const WAYS = "src/transfer/ways.ts";
const sources = ["src/transfer/", "src/lanes/"].flatMap((folder) => projectFiles([".ts"], folder));
const ways = sources.find(({ path }) => path === WAYS)?.text ?? "";

/** A constant at the top of a file that is a number, or arithmetic on numbers. */
const NUMBER =
  /^(?:export )?const ([A-Z][A-Z_\d]*)(?:: number)? =\s+(?:[\d(]|[A-Z][A-Z_\d]* [*/+-])/gm;

Deno.test("the engine has no more than 5,500 lines", () => {
  const lines = sources.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0);
  console.log(`${lines} lines of src/transfer and src/lanes`);
  assertLessOrEqual(lines, 5500);
});

Deno.test("the engine has all its numbers in ways.ts, each named once", () => {
  const elsewhere = sources.filter(({ path }) => path !== WAYS).flatMap(({ path, text }) =>
    [...text.matchAll(NUMBER)].map(([, name]) => `${path}: ${name}`)
  );
  assertEquals(elsewhere, ALLOWED);
  const names = [...ways.matchAll(/^(?:export )?const ([A-Z][A-Z_\d]*)/gm)].map(([, name]) => name);
  assertEquals(new Set(names).size, names.length);
  const chosen = [...ways.matchAll(CHOSEN)].map(([, name]) => name);
  console.log(
    `${chosen.length} numbers in ways.ts, and ${names.length - chosen.length} that follow`,
  );
  assertLessOrEqual(chosen.length, 50);
});

/** Facts of the processor and of the format of messages, which no machine changes. */
const ALLOWED = [
  "src/transfer/shared_transfer.ts: LINE",
  "src/lanes/copy_lanes.ts: EVERYONE",
  "src/lanes/memory_keeper.ts: MAX_KEPT_ARRAYS",
];
/** A number in ways.ts that follows from no other one there. */
const CHOSEN =
  /^(?:export )?const ([A-Z][A-Z_\d]*)(?:: number)? = (?:CORES > MANY_LANES \? )?[\d.]+(?: : [\d.]+)?(?: \* [KM]IB)?;/gm;

Deno.test("the engine has no more than three variables of a module", () => {
  const found = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^(?:export )?let (\w+)/gm)].map(([, name]) => `${path}: ${name}`)
  );
  assertLessOrEqual(found.length, 3, found.join(", "));
});

Deno.test("the ablation bench finds each mechanism, once", () => {
  for (const [name, { file, start }] of Object.entries(MECHANISMS)) {
    const text = sources.find(({ path }) => path === file)?.text ?? "";
    assertEquals(text.split(start).length, 2, name);
  }
});

/** What V8 has entered in one call after three like it, without the simulated driver. */
const ENTERED = {
  upload: { functions: 112, files: 37 },
  download: { functions: 51, files: 18 },
} as const;

Deno.test("a warm upload and a warm download enter few functions and files", async () => {
  const program = "tests/support/entered_functions.ts";
  const { code, stdout, stderr } = await runDeno(["run", "-A", "--no-check", program], {
    cwd: PROJECT_ROOT,
  });
  assert(code === 0, stderr);
  const found: Record<string, { functions: number; files: number }> = JSON.parse(stdout);
  console.log(stdout.trim());
  for (const [name, { functions, files }] of Object.entries(ENTERED)) {
    assertLessOrEqual(found[name]?.functions ?? Infinity, functions, `functions of ${name}`);
    assertLessOrEqual(found[name]?.files ?? Infinity, files, `files of ${name}`);
  }
});
