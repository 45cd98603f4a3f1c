// Does the kit measure what nvbandwidth measures? Its cases beside its own output of the same machine:
// `deno task bench nvbandwidth --theirs nvbandwidth.txt [--out result.json]` measures the cases for one GPU now.
// With `--reports a.json,b.json,c.json` the figures are those of reports of `cli.ts machine`, made in turn with
// the runs of nvbandwidth that `--theirs` lists; the middle ones are compared.

import { CudaDevice } from "../mod.ts";
import { COPY_CASES } from "../src/measure/copy_cases.ts";
import { LATENCY_CASES } from "../src/measure/latency_cases.ts";
import { parseNvbandwidth } from "../src/measure/nvbandwidth.ts";
import { readOptions } from "./arguments.ts";
import { type BenchResult, type BenchRow, formatRows, median, report } from "./result_file.ts";

/** Part by which a figure may differ. */
const TOLERANCE = 0.02;

const { theirs, reports, out } = readOptions({
  theirs: { type: "string", default: "nvbandwidth.txt" },
  reports: { type: "string" },
  out: { type: "string" },
});
const theirRuns = textsOf(theirs).map(parseNvbandwidth);
if (reports === undefined) await measureNow();
else compareReports(textsOf(reports));

function textsOf(paths: string): string[] {
  return paths.split(",").map((path) => Deno.readTextFileSync(path));
}

async function measureNow(): Promise<void> {
  using gpu = CudaDevice.open(0, { driver: "auto" });
  const { cases, latencies } = await gpu.bandwidth({
    cases: [...COPY_CASES, ...LATENCY_CASES].filter((name) => theirRuns[0]?.has(name)),
    ...gpu.isSimulated ? { caseSize: "1 MiB" } : {},
  });
  const wrong = [...cases, ...latencies].find(({ verified }) => !verified);
  if (wrong !== undefined) throw new Error(`Cannot report ${wrong.name}: its bytes are wrong`);
  await report(gpu, [
    ...cases.map(({ name, gigabytesPerSecond }) => rowOf(name, [gigabytesPerSecond])),
    ...latencies.map(({ name, secondsPerAccess }) => rowOf(name, [secondsPerAccess * 1e9])),
  ], out);
}

function compareReports(texts: readonly string[]): void {
  const runs = texts.map(parseNvbandwidth);
  const rows = [...runs[0]?.keys() ?? []]
    .filter((name) => theirRuns.every((run) => run.has(name)))
    .map((name) => rowOf(name, runs.map((run) => run.get(name) ?? NaN)));
  console.log(formatRows(rows));
  if (out === undefined) return;
  const { date, vramkit, deno, driver, gpus, rows: facts } = JSON.parse(texts.at(-1) ?? "").machine;
  const cores = facts.find(({ id }: { id: string }) => id === "host.cores");
  const device = gpus[0].name;
  const result: BenchResult = {
    ...{ device, driver: driver.cuda, deno, vramkit, date, coreCount: cores.value },
    rows,
  };
  Deno.writeTextFileSync(out, `${JSON.stringify(result, null, 2)}\n`);
}

/** Compares samples of a case, in GB/s, or of a latency, in ns. */
function rowOf(name: string, samples: readonly number[]): BenchRow {
  const isLatency = name.includes("latency");
  const inUnit = (value: number) => isLatency ? value * 1e-9 : value;
  const theirSamples = theirRuns.map((run) => run.get(name) ?? NaN);
  const [value, their] = [median(samples), median(theirSamples)];
  const spread = (Math.max(...theirSamples) - Math.min(...theirSamples)) / their;
  const isSeveral = theirSamples.length > 1;
  return {
    name,
    value: inUnit(value),
    unit: isLatency ? "s" : "GB/s",
    ...isSeveral ? { samples: samples.map(inUnit) } : {},
    reference: {
      name: "nvbandwidth",
      value: inUnit(their),
      ...isSeveral ? { samples: theirSamples.map(inUnit) } : {},
    },
    promise: {
      text: `within 2 % of nvbandwidth${isSeveral ? ", or within its own spread" : ""}`,
      holds: Math.abs(value / their - 1) <= Math.max(TOLERANCE, spread),
    },
  };
}
