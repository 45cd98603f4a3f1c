// How long does a user wait? Whole programs, from the start of the process to its end: import, open, bytes up and
// down; beside cuda.core, CuPy, JAX and PyTorch doing the same, in turn. Those that are not installed are left
// out: `deno task bench programs [--sizes LIST] [--rounds N] [--peers LIST] [--before MOD]`.

import { parseBytes } from "../mod.ts";
import { formatBytes } from "../src/words/format.ts";
import { readOptions } from "./arguments.ts";
import { median } from "./result_file.ts";

const flags = readOptions({
  sizes: { type: "string", default: "4 KiB,16 MiB,256 MiB,4 GiB" },
  rounds: { type: "string", default: "5" },
  peers: { type: "string", default: "cuda.core,cupy,jax,torch" },
  before: { type: "string" },
});
const FORMS = ["awaited", "blocking"] as const;
const here = new URL("../mod.ts", import.meta.url).pathname;
const ours = new URL("programs/ours.ts", import.meta.url).pathname;
const theirs = new URL("programs/peer.py", import.meta.url).pathname;

/** A program that takes its turns. */
interface Program {
  readonly name: string;
  readonly command: string;
  readonly args: (byteLength: number) => string[];
}

const kits = { now: here, ...flags.before === undefined ? {} : { before: flags.before } };
const programs: Program[] = Object.entries(kits).flatMap(([version, mod]) =>
  FORMS.map((form) => ({
    name: `vramkit ${version}, ${form}`,
    command: Deno.execPath(),
    args: (byteLength: number) => ["run", "-A", "--no-check", ours, mod, `${byteLength}`, form],
  }))
);
for (const library of flags.peers.split(",").filter((name) => name !== "")) {
  programs.push({
    name: library,
    command: "python3",
    args: (size) => [theirs, library, `${size}`],
  });
}
for (const text of flags.sizes.split(",")) {
  const byteLength = parseBytes(text, "--sizes");
  const times = new Map<string, number[]>();
  const parts = new Map<string, string>();
  for (let round = 0; round < Number(flags.rounds); round++) {
    for (const program of round % 2 === 0 ? programs : programs.toReversed()) {
      const found = await millisecondsOf(program, byteLength);
      if (found === undefined) continue;
      times.set(program.name, [...times.get(program.name) ?? [], found.milliseconds]);
      parts.set(program.name, found.printed);
    }
  }
  console.log(`${formatBytes(byteLength)}, ${navigator.hardwareConcurrency} cores, milliseconds`);
  for (const [name, samples] of times) {
    console.log(
      `  ${name.padEnd(24)}${median(samples).toFixed(0).padStart(7)}  ${parts.get(name)}`,
    );
  }
}

/** Runs a program; undefined when it fails, as one whose library is not there does. */
async function millisecondsOf(
  { command, args }: Program,
  byteLength: number,
): Promise<{ milliseconds: number; printed: string } | undefined> {
  const start = performance.now();
  const { success, stdout } = await new Deno.Command(command, {
    args: args(byteLength),
    stderr: "null",
  }).output();
  const milliseconds = performance.now() - start;
  const printed = new TextDecoder().decode(stdout).trim().replaceAll(/(\.\d)\d+/g, "$1");
  return success ? { milliseconds, printed } : undefined;
}
