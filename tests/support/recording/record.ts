// Records what a driver makes of scripts and random sequences: `deno task record`. It compares with
// the simulated driver at once and says where the two differ, so that one run on a GPU tells it all.

import { parseArgs } from "node:util";
import { CRASHED, HUNG } from "./compare.ts";
import { ProcessPool } from "./process_pool.ts";
import { readRecording, type Recording, type RecordingFacts, writeRecording } from "./recording.ts";
import { emptyReplay, type Replay, replaySequence } from "./replay.ts";
import { SCRIPTS } from "./scripts/all.ts";
import { shrink } from "./shrink.ts";
import { describeReplay, groupDifferences } from "./summary.ts";
import type { ProcessOptions, TaskResult } from "./worker_process.ts";

const USAGE = `Usage: deno task record [options]
  --out FILE         where the recording goes; tests/recordings/<device>_<count of devices>.gz
  --report FILE      where the words go beside the console
  --seed N           seed of the random sequences; 1
  --count N          how many random sequences; 2000
  --devices N        most devices to use; 1
  --children N       processes at the same time; half of the cores, at most 8
  --timeout SECONDS  how long a step may take; 20
  --limit SECONDS    after which no sequence begins; 400
  --groups N         kinds of differences to make short examples of; 40
  --driver NAME      cuda, or simulated to try the recorder; cuda
  --compare FILE     records nothing, and compares the simulated driver with this recording`;

/** Seconds in which examples of differences are made short. */
const EXAMPLES_SECONDS = 100;

/** The number of troubles the console shows; the report has all. */
const MAX_TROUBLES_SHOWN = 20;

/** The options of a run of the recorder. */
interface Wanted extends ProcessOptions {
  readonly out: string | undefined;
  readonly report: string | undefined;
  readonly seed: number;
  readonly count: number;
  readonly children: number;
  readonly groups: number;
  readonly limitSeconds: number;
  readonly compare: string | undefined;
}

function readOptions(): Wanted {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      out: { type: "string" },
      report: { type: "string" },
      seed: { type: "string", default: "1" },
      count: { type: "string", default: "2000" },
      devices: { type: "string", default: "1" },
      children: { type: "string" },
      timeout: { type: "string", default: "20" },
      limit: { type: "string", default: "400" },
      groups: { type: "string", default: "40" },
      driver: { type: "string", default: "cuda" },
      compare: { type: "string" },
    },
  });
  const { driver } = values;
  if (driver !== "cuda" && driver !== "simulated") {
    throw new TypeError(`Cannot record ${driver}: expected cuda or simulated`);
  }
  const usual = Math.max(1, Math.min(8, Math.floor(navigator.hardwareConcurrency / 2)));
  return {
    out: values.out,
    report: values.report,
    seed: numberOf("seed", values.seed),
    count: numberOf("count", values.count),
    mostDevices: numberOf("devices", values.devices),
    children: values.children === undefined ? usual : numberOf("children", values.children),
    timeoutSeconds: numberOf("timeout", values.timeout),
    limitSeconds: numberOf("limit", values.limit),
    groups: numberOf("groups", values.groups),
    driver,
    compare: values.compare,
  };
}

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new TypeError(`Cannot take ${text} for --${name}: expected a whole number`);
}

/** Says how far a run is, a few times. */
function progress(total: number): (result: TaskResult) => void {
  const start = performance.now();
  let doneCount = 0;
  let troubleCount = 0;
  return ({ trouble }) => {
    doneCount++;
    if (trouble !== undefined && ++troubleCount <= MAX_TROUBLES_SHOWN) console.log(trouble);
    if (doneCount % Math.ceil(total / 8) !== 0) return;
    const seconds = Math.round((performance.now() - start) / 1000);
    console.log(`${doneCount} of ${total} sequences after ${seconds} s`);
  };
}

/** Replays all sequences. */
async function compareAll({ sequences, facts }: Recording): Promise<Replay> {
  const found = emptyReplay();
  for (const sequence of sequences) {
    try {
      await replaySequence(sequence, facts, found);
    } catch (error) {
      console.log(`the simulated driver failed in ${sequence.id}: ${error}`);
    }
  }
  return found;
}

/** Adds a short example to each kind of difference, most frequent first, while there is time. */
async function addExamples(
  found: Replay,
  { pool, facts, groups }: { pool: ProcessPool; facts: RecordingFacts; groups: number },
): Promise<void> {
  const end = performance.now() + EXAMPLES_SECONDS * 1000;
  for (const { differences: [example] } of groupDifferences(found.differences).slice(0, groups)) {
    if (example === undefined || performance.now() > end) return;
    // A sequence that ends its process, or does not return, is not played again and again.
    const isCostly = example.real === CRASHED || example.real === HUNG;
    if (!isCostly) found.differences.push(await shrink(example, { pool, facts }));
  }
}

/** Says what a comparison has found: briefly on the console where a file gets all of it. */
async function tell(
  { report }: Wanted,
  { heading, found, troubles }: { heading: string; found: Replay; troubles: readonly string[] },
): Promise<void> {
  const words = (exampleCount: number) =>
    [
      heading,
      describeReplay(found, { exampleCount }),
      "",
      `${troubles.length} processes ended by themselves or did not return`,
      ...(exampleCount > 0 ? troubles : troubles.slice(0, MAX_TROUBLES_SHOWN)),
    ].join("\n");
  console.log(words(report === undefined ? 2 : 0));
  if (report !== undefined) await Deno.writeTextFile(report, `${words(2)}\n`);
}

async function compareFile(wanted: Wanted, file: string): Promise<boolean> {
  const recording = await readRecording(file);
  const found = await compareAll(recording);
  await tell(wanted, { heading: describeFacts(recording), found, troubles: [] });
  return found.differences.length === 0;
}

function describeFacts({ facts, sequences }: Recording): string {
  const { device, devices, driverRelease, date } = facts;
  return `${sequences.length} sequences of ${device}, ${devices} devices, driver ${driverRelease}, ` +
    date;
}

async function record(wanted: Wanted): Promise<boolean> {
  const start = performance.now();
  await using pool = new ProcessPool(wanted, wanted.children);
  const facts = { ...await pool.facts(), seed: wanted.seed };
  console.log(`recording ${JSON.stringify(facts)} with ${wanted.children} processes`);
  const scripts = SCRIPTS.filter(({ isSimulatedOnly, deviceCount }) =>
    !isSimulatedOnly && deviceCount <= facts.devices
  );
  const tasks = [
    ...scripts.map(({ id, isFresh, lines }) => ({ sequence: { id, isFresh, lines } })),
    ...Array.from({ length: wanted.count }, (_, number) => ({ seed: wanted.seed, number })),
  ];
  const { limitSeconds } = wanted;
  const onResult = progress(tasks.length);
  const results = await pool.playAll(tasks, { limitSeconds, onResult });
  const sequences = results.map(({ recorded }) => recorded).filter(({ lines }) => lines.length > 0);
  const recordedSeconds = Math.round((performance.now() - start) / 1000);
  const name = facts.device.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
  const out = wanted.out ?? `tests/recordings/${name}_${facts.devices}.gz`;
  await writeRecording(out, { facts, sequences });
  const { size } = await Deno.stat(out);
  const found = await compareAll({ facts, sequences });
  const troubles = results.flatMap(({ trouble }) => trouble === undefined ? [] : [trouble]);
  const heading = `${describeFacts({ facts, sequences })}\n` +
    `recorded in ${recordedSeconds} s into ${out} (${size} bytes)`;
  // Should making examples fail or last too long, all else is told already.
  await tell(wanted, { heading, found, troubles });
  if (found.differences.length === 0) return true;
  await addExamples(found, { pool, facts, groups: wanted.groups });
  await tell(wanted, { heading: `${heading}\nwith short examples`, found, troubles });
  return false;
}

if (import.meta.main) {
  let wanted: Wanted;
  try {
    wanted = readOptions();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    Deno.exit(2);
  }
  const { compare } = wanted;
  try {
    const isSame = compare === undefined
      ? await record(wanted)
      : await compareFile(wanted, compare);
    Deno.exit(isSame ? 0 : 1);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(1);
  }
}
