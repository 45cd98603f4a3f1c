// The benches' arguments: usage on request and for wrong ones, and no file of that name.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
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

Deno.test("only what benches start as their parts reads arguments by itself", () => {
  const readers = programsIn(BENCH)
    .filter((file) => Deno.readTextFileSync(file).includes("Deno.args"))
    .map((file) => file.slice(fileURLToPath(BENCH).length));
  assertEquals(readers.sort(), [
    "arguments.ts",
    "collectives_rank.ts",
    "peers/first_calls/ours.ts",
  ]);
});

Deno.test("each bench that is a task reads its arguments, so that it has --help", () => {
  const { tasks } = JSON.parse(Deno.readTextFileSync(new URL("../deno.json", BENCH)));
  for (const [name, { command }] of Object.entries<{ command: string }>(tasks)) {
    const [program] = /(?<= )bench\/\S+\.ts$/.exec(command) ?? [];
    if (program === undefined) continue;
    const text = Deno.readTextFileSync(new URL(`../${program}`, BENCH));
    assert(/\bread(Words|Options|Flags)\(/.test(text), name);
    assertStringIncludes(text.slice(0, text.indexOf("\n\n")), `deno task ${name}`);
  }
});

function programsIn(folder: URL): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return programsIn(new URL(`${name}/`, folder));
    return name.endsWith(".ts") ? [fileURLToPath(new URL(name, folder))] : [];
  });
}
