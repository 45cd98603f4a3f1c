// Are the calls that people write first as fast as those of PyTorch, CuPy and JAX? The same calls by
// size, in programs of their own that take turns: a program's first calls, and after some seconds.
// `deno task bench calls [--largest SIZE] [--rounds N] [--calls LIST] [--phases LIST] [--peers LIST]
// [--variants JSON] [--out FILE] [--page FILE]`; a variant can have the root of another version of the
// kit, and fewer calls and phases. The files are written anew whenever a library is done.

import { parseBytes } from "../../mod.ts";
import { formatBytes } from "../../src/words/format.ts";
import { formatTable } from "../../src/words/text_table.ts";
import { readOptions } from "../arguments.ts";
import { median } from "../result_file.ts";
import { pageOf } from "./first_calls/page.ts";
import {
  type Call,
  type CallDocument,
  type CallPlan,
  type CallRun,
  CALLS,
  type CallSamples,
  type Phase,
  sizesUpTo,
  summaryOf,
} from "./first_calls/plan.ts";
import { outputOf } from "./process.ts";

const LIBRARIES = ["torch", "cupy", "jax"] as const;
const FORMS = ["awaited", "blocking"] as const;
const ALL_PHASES: readonly Phase[] = ["cold", "warm"];

const flags = readOptions({
  largest: { type: "string", default: "1 GiB" },
  rounds: { type: "string", default: "2" },
  variants: { type: "string", default: '{"vramkit":{}}' },
  calls: { type: "string", default: Object.keys(CALLS).join(",") },
  phases: { type: "string", default: ALL_PHASES.join(",") },
  peers: { type: "string", default: LIBRARIES.join(",") },
  out: { type: "string" },
  page: { type: "string" },
});
const sizes = sizesUpTo(parseBytes(flags.largest, "--largest"));
const CALL_NAMES = namesIn(flags.calls, Object.keys(CALLS) as Call[]);
const PHASES = namesIn(flags.phases, ALL_PHASES);
const PEERS = namesIn(flags.peers, LIBRARIES);
const variants: Record<string, { root?: string; calls?: Call[]; phases?: Phase[] }> = JSON.parse(
  flags.variants,
);
const documents: CallDocument[] = [];
for (let round = 0; round < Number(flags.rounds); round++) {
  for (const [name, variant] of Object.entries(variants)) await runOurs(name, variant);
  for (const library of PEERS) await runPeer(library);
}
for (const phase of PHASES) for (const form of FORMS) printTable(phase, form);

/** Reads a list of names that a flag has, separated by commas. */
function namesIn<N extends string>(list: string, all: readonly N[]): N[] {
  const names = list.split(",").filter((name) => name !== "");
  const wrong = names.find((name) => !all.some((known) => known === name));
  if (wrong === undefined) return all.filter((name) => names.includes(name));
  throw new TypeError(`Cannot measure ${JSON.stringify(wrong)}: expected ${all.join(", ")}`);
}

/** Writes what is known so far, so that a run that is ended leaves it. */
async function writeFiles(): Promise<void> {
  const run: CallRun = {
    date: new Date().toISOString(),
    device: documents.find(({ device }) => device !== "none")?.device ?? "none",
    coreCount: navigator.hardwareConcurrency,
    sizes,
    documents: documents.map((found) => ({ ...found, results: found.results.map(summaryOf) })),
  };
  if (flags.out !== undefined) await Deno.writeTextFile(flags.out, JSON.stringify(run) + "\n");
  if (flags.page !== undefined) await Deno.writeTextFile(flags.page, pageOf(run));
}

/** One process for each call and form while the program is cold, and one for all when it is warm. */
async function runOurs(name: string, variant: typeof variants[string]): Promise<void> {
  const { root = new URL("../..", import.meta.url).pathname, phases = PHASES } = variant;
  const { calls = CALL_NAMES } = variant;
  const plans: CallPlan[] = [];
  if (phases.includes("cold")) {
    for (const form of FORMS) {
      for (const call of calls) {
        plans.push({ sizes, phase: "cold", calls: [call], forms: [form] });
      }
    }
  }
  if (phases.includes("warm")) plans.push({ sizes, phase: "warm", calls });
  const program = `${root}/bench/peers/first_calls/ours.ts`;
  await runPlans(name, plans, (plan) => [Deno.execPath(), "run", "-A", program, plan]);
}

/** The same for another library, whose calls all block. */
async function runPeer(library: string): Promise<void> {
  const plans: CallPlan[] = [];
  if (PHASES.includes("cold")) {
    for (const call of CALL_NAMES) plans.push({ sizes, phase: "cold", calls: [call] });
  }
  if (PHASES.includes("warm")) plans.push({ sizes, phase: "warm", calls: CALL_NAMES });
  const program = new URL("python_calls.py", import.meta.url).pathname;
  await runPlans(undefined, plans, (plan) => ["python3", "-B", program, library, plan]);
}

/** Runs a process for each plan, and notes what they print as one document. */
async function runPlans(
  name: string | undefined,
  plans: readonly CallPlan[],
  commandFor: (plan: string) => readonly [string, ...string[]],
): Promise<void> {
  const results: CallSamples[] = [];
  let found: CallDocument | undefined;
  for (const plan of plans) {
    const [program, ...args] = commandFor(JSON.stringify(plan));
    found = await documentOf(program, args, name ?? args[2] ?? program);
    if (found.error !== undefined) break;
    results.push(...found.results);
  }
  if (found === undefined) return;
  documents.push({ ...found, peer: name ?? found.peer, results });
  await writeFiles();
}

async function documentOf(
  program: string,
  args: readonly string[],
  peer: string,
): Promise<CallDocument> {
  const start = performance.now();
  try {
    return JSON.parse(await outputOf(program, args));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.error(`${peer}: ${message}`);
    return { peer, device: "none", versions: {}, results: [], error: message };
  } finally {
    console.error(`${peer}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  }
}

/** Prints GB/s by call and size: ours, and the best of the others. */
function printTable(phase: Phase, form: CallSamples["form"]): void {
  console.log(`\n${phase}, ${form} (GB/s)`);
  const rows: string[][] = [["call", "who", ...sizes.map((size) => formatBytes(size))]];
  for (const call of CALL_NAMES) {
    for (const name of Object.keys(variants)) {
      rows.push([call, name, ...sizes.map((size) => speedText(name, { call, form, phase, size }))]);
    }
    for (const peer of ["PyTorch", "CuPy", "JAX"]) {
      const texts = sizes.map((size) => speedText(peer, { call, form: "blocking", phase, size }));
      if (texts.some((text) => text !== "")) rows.push(["", peer, ...texts]);
    }
  }
  console.log(formatTable(rows, ["left", "left", ...sizes.map(() => "right" as const)]));
}

function speedText(
  name: string,
  query: { call: Call; form: CallSamples["form"]; phase: Phase; size: number },
): string {
  const { call, form, phase, size } = query;
  const samples = documents.filter(({ peer }) => peer === name)
    .flatMap(({ results }) => results)
    .filter((found) =>
      found.call === call && found.form === form && found.phase === phase &&
      found.byteLength === size
    )
    .flatMap(({ samples }) => samples);
  if (samples.length === 0) return "";
  return (size / median(samples) / 1e9).toPrecision(3);
}
