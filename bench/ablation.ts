// What does each mechanism of transfers buy? Times the calls by size of this kit and of copies of it in which one
// mechanism is switched off, in processes that take turns: `deno task bench ablation [--only LIST] [--rounds N]
// [--sizes LIST]`. A ratio says how many times as long a call takes without it. A mechanism pays where that is
// 1.3 or more in a program that goes on, from 8 cores on, and is below 1 nowhere; otherwise it goes.

import { join } from "node:path";
import { parseBytes } from "../mod.ts";
import { readOptions } from "./arguments.ts";
import { callsInTurn, printRatios } from "./in_processes.ts";

/** A mechanism of transfers. */
interface Mechanism {
  /** The file that has it. */
  readonly file: string;
  /** A line there, the start of a function. */
  readonly start: string;
  /** The code behind that line which switches it off. */
  readonly instead: string;
}

/** The mechanisms by name. */
export const MECHANISMS: Readonly<Record<string, Mechanism>> = {
  ring: {
    file: "src/transfer/ways.ts",
    start: "}: EngineLimits,\n): boolean {\n",
    instead: "if (1 as number) return false;",
  },
  shared: {
    file: "src/transfer/engine.ts",
    start: "get awakeLanes(): CopyLanes | undefined {\n",
    instead: "if (1 as number) return undefined;",
  },
  made: {
    file: "src/transfer/engine.ts",
    start: "get arrays(): ArrayMaker | undefined {\n",
    instead: "if (1 as number) return undefined;",
  },
  lent: {
    file: "src/transfer/engine.ts",
    start: "get canLend(): boolean {\n",
    instead: "if (1 as number) return false;",
  },
  landing: {
    file: "src/transfer/staging_memory.ts",
    start: "land(byteLength: number): HostBytes | undefined {\n",
    instead: "if (1 as number) return undefined;",
  },
  slots: {
    file: "src/transfer/pinned_slab.ts",
    start: "}: SlabRequest): Mapping | undefined {\n",
    instead: "if (1 as number) return undefined;",
  },
  pages: {
    file: "src/lanes/fresh_pages.ts",
    start: "export function isUntouched(bytes: HostBytes): boolean {\n",
    instead: "if (1 as number) return false;",
  },
  heap: {
    file: "src/lanes/fresh_pages.ts",
    start: "export function keepFreedMemory(): void {\n",
    instead: "if (1 as number) return;",
  },
  large: {
    file: "src/lanes/fresh_pages.ts",
    start: "export function askForHugePages(bytes: HostBytes): void {\n",
    instead: "if (1 as number) return;",
  },
  ahead: {
    file: "src/transfer/engine.ts",
    start: "get #hasEnoughOnTheWay(): boolean {\n",
    instead: "if (1 as number) return false;",
  },
  together: {
    file: "src/transfer/ring_transfer.ts",
    start: "copy(mostCount: number): void {\n",
    instead: "mostCount = 1;",
  },
  aligned: {
    file: "src/transfer/pieces.ts",
    start: "{ isFresh, pieceBytes }: CutOptions): number {\n",
    instead: "if (1 as number) return pieceBytes;",
  },
};

const ROOT = new URL("..", import.meta.url).pathname;

if (import.meta.main) await run();

async function run(): Promise<void> {
  const flags = readOptions({
    only: { type: "string", default: Object.keys(MECHANISMS).join(",") },
    rounds: { type: "string", default: "3" },
    sizes: { type: "string" },
  });
  const folder = Deno.makeTempDirSync({ prefix: "vramkit-ablation-" });
  try {
    const versions: Record<string, string> = { all: join(ROOT, "mod.ts") };
    for (const name of flags.only.split(",")) versions[name] = copyWithout(name, folder);
    const sizes = flags.sizes?.split(",").map((size) => parseBytes(size, "--sizes")) ?? [];
    const words = sizes.length === 0 ? [] : [sizes.join(",")];
    const { all = [], ...others } = await callsInTurn(versions, {
      roundCount: Number(flags.rounds),
      words,
    });
    console.log(`${all[0]?.device}, ${navigator.hardwareConcurrency} cores`);
    for (const [name, runs] of Object.entries(others)) {
      console.log(`\nWithout ${name}`);
      printRatios(all, runs);
    }
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** Copies the kit without a mechanism into a folder, and returns the path of its mod.ts. */
function copyWithout(name: string, folder: string): string {
  const mechanism = MECHANISMS[name];
  if (mechanism === undefined) {
    throw new TypeError(
      `Cannot switch off ${name}: expected ${Object.keys(MECHANISMS).join(", ")}`,
    );
  }
  const { file, start, instead } = mechanism;
  const root = join(folder, name);
  for (const part of ["src", "ffi"]) copyFolder(join(ROOT, part), join(root, part));
  for (const part of ["mod.ts", "deno.json"]) Deno.copyFileSync(join(ROOT, part), join(root, part));
  const text = Deno.readTextFileSync(join(root, file));
  if (text.split(start).length !== 2) throw new Error(`${file} has not one ${start}`);
  Deno.writeTextFileSync(join(root, file), text.replace(start, `${start}${instead}\n`));
  return join(root, "mod.ts");
}

function copyFolder(from: string, to: string): void {
  Deno.mkdirSync(to, { recursive: true });
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) copyFolder(join(from, name), join(to, name));
    else Deno.copyFileSync(join(from, name), join(to, name));
  }
}
