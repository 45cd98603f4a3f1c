// Is a change slower than what was there before, and than the driver? Times the calls by size of another
// version of this kit and of this one, in processes that take turns: `deno task bench versions --before
// ../before/mod.ts [--driver] [--out result.json] [--rounds N] [--sizes LIST]`. The ratio of a call is the median
// of pairs, above 1 where this version is faster. `--driver` adds the ratio to the driver's own call into the
// same kind of array, in the same process; then `--before` may be left out. With fewer cores: `taskset -c 0-3`
// before it.

import { CudaDevice, parseBytes } from "../mod.ts";
import { readOptions } from "./arguments.ts";
import { callsInTurn, printRatios, printSpeeds, rowsOf } from "./in_processes.ts";
import { report } from "./result_file.ts";
import type { CallRun } from "./transfer/calls_by_size.ts";

/** The driver's call that each of ours is compared with. */
const BESIDE: Readonly<Record<string, string>> = {
  "upload": "driver up",
  "uploadSync": "driver up",
  "download, used array": "driver down, used array",
  "downloadSync, used array": "driver down, used array",
  "download, new array": "driver down, new array",
  "downloadSync, new array": "driver down, new array",
  "download()": "driver down, new array",
  "downloadSync()": "driver down, new array",
};

const flags = readOptions({
  before: { type: "string" },
  driver: { type: "boolean", default: false },
  out: { type: "string" },
  rounds: { type: "string", default: "7" },
  sizes: { type: "string" },
});
const here = new URL("../mod.ts", import.meta.url).pathname;
const sizes = flags.sizes?.split(",").map((size) => parseBytes(size, "--sizes")).join(",");
const { before = [], now = [] } = await callsInTurn(
  { ...flags.before === undefined ? {} : { before: flags.before }, now: here },
  { roundCount: Number(flags.rounds), words: [sizes ?? "", ...flags.driver ? ["--driver"] : []] },
);
const [one] = now;
console.log(`${one?.device}, ${navigator.hardwareConcurrency} cores, ${flags.rounds} rounds`);
if (flags.driver) {
  console.log("beside the driver's own call:");
  printRatios(...besideDriver(now));
}
if (before.length > 0) {
  console.log("beside the version before:");
  printRatios(now, before);
}
printSpeeds(now);
if (flags.out !== undefined) {
  using gpu = CudaDevice.open(0, { driver: "auto" });
  const compared = before.length > 0 ? rowsOf(now, before) : [];
  const rows = compared.filter(({ name }) => !name.startsWith("driver"));
  if (flags.driver) rows.push(...rowsOf(...besideDriver(now), { name: "driver" }));
  await report(gpu, rows, flags.out);
}

/** Returns the times of our calls, and those of the driver's calls by the same names. */
function besideDriver(runs: readonly CallRun[]): [CallRun[], CallRun[]] {
  const named = (name: (call: string, driver: string) => string) =>
    runs.map(({ times, ...run }) => {
      const pairs = Object.entries(BESIDE).map(([call, driver]) => {
        return [call, times[name(call, driver)] ?? {}] as const;
      });
      return { ...run, times: Object.fromEntries(pairs) };
    });
  return [named((call) => call), named((_, driver) => driver)];
}
