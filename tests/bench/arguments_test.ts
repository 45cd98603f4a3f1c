// The benches' arguments: usage on request and for wrong ones, and no file of that name.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { BENCHES } from "../../bench/run.ts";
import { runDeno } from "../support/child_deno.ts";

const BENCH = new URL("../../bench/", import.meta.url);
const [VIEWS, SAVES] = ["views.ts", "transfer/saves.ts"].map((name) => new URL(name, BENCH).href);

/** Runs a bench that must not begin. */
async function start(program: string | undefined, ...args: string[]) {
  return await runDeno(["run", "-A", "--no-check", program ?? "", ...args]);
}

Deno.test("a bench prints what it asks and how it is started for --help", async () => {
  for (const [program, usage] of [[VIEWS, "[result.json]"], [SAVES, "[--out result.json]"]]) {
    const { code, stdout } = await start(program, "--help");
    assertEquals(code, 0);
    assertStringIncludes(stdout, usage ?? "");
  }
});

Deno.test("a bench refuses options and words that it does not have", async () => {
  for (const args of [["--helpp"], ["a.json", "b.json"]]) {
    const { code, stdout, stderr } = await start(VIEWS, ...args);
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, args.at(-1) ?? "");
    assertStringIncludes(stderr, "[result.json]");
  }
});

Deno.test("only what starts benches or is started by them reads arguments by itself", () => {
  const readers = programsIn(BENCH)
    .filter((file) => Deno.readTextFileSync(file).includes("Deno.args"))
    .map((file) => file.slice(fileURLToPath(BENCH).length));
  assertEquals(readers.sort(), [
    "arguments.ts",
    "collectives_rank.ts",
    "peers/first_calls/ours.ts",
    "run.ts",
    "transfer/calls_by_size.ts",
    "transfer/ranges.ts",
  ]);
});

Deno.test("each bench that has a name reads its arguments, so that it has --help", () => {
  for (const [name, { file }] of Object.entries(BENCHES)) {
    if (file.startsWith("../")) continue; // an entry's program, with a usage of its own
    const text = Deno.readTextFileSync(new URL(file, BENCH));
    assert(/\bread(Words|Options|Flags)\(/.test(text), name);
    assertStringIncludes(text.slice(0, text.indexOf("\n\n")), `deno task bench ${name}`);
  }
});

Deno.test("deno task bench runs a bench by its name, and lists them without one", async () => {
  const run = new URL("run.ts", BENCH).href;
  const views = await start(run, "views", "--help");
  assertEquals(views.code, 0);
  assertStringIncludes(views.stdout, "deno task bench views");
  const list = await start(run);
  for (const name of ["host", ...Object.keys(BENCHES)]) {
    assertStringIncludes(list.stdout, `  ${name} `);
  }
  const wrong = await start(run, "toString");
  assertEquals([wrong.code, wrong.stdout], [2, ""]);
  assertStringIncludes(wrong.stderr, 'Cannot run the bench "toString"');
});

function programsIn(folder: URL): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return programsIn(new URL(`${name}/`, folder));
    return name.endsWith(".ts") ? [fileURLToPath(new URL(name, folder))] : [];
  });
}
