// The benches of a program in GB/s: `deno bench -A --json | deno run -A report.ts`. Prints
// a table, writes a page with --html FILE, and with --compare old.json names what got slower.

import { parseArgs } from "node:util";
import { reasonOf } from "../disk/system_error.ts";
import { readText } from "../disk/whole_file.ts";
import { formatBytes, messageOf } from "../words/format.ts";
import { describeParseError } from "../words/parse_error.ts";
import { formatTable } from "../words/text_table.ts";
import { benchFigure, SIMULATED } from "./bench_figure.ts";
import { type BenchRun, compareRuns, isSlower, parseBenchRun } from "./bench_results.ts";

const USAGE = `Usage: deno bench -A --json | deno run -A report.ts [FILE] [OPTIONS]

FILE is what deno bench --json printed; standard input by default.

Options:
  --html FILE       write a page with bars by size; needs --allow-write
  --compare FILE    an earlier output of the same benches: names what got slower
  --help            show this text`;

/**
 * Reports on a run and returns the exit code: 0 for success, 1 when a bench failed or got slower, 2
 * for wrong arguments or an input that is something else.
 *
 * @param args The command line's arguments, without the program's name.
 */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parse(args);
    if (values.help === true) {
      console.log(USAGE);
      return 0;
    }
    const [path, more] = positionals;
    if (more !== undefined) throw new TypeError(`Cannot read ${more} too: expected one file`);
    const run = await readRun(path);
    const before = values.compare === undefined ? undefined : await readRun(values.compare);
    const words = describeRun(run);
    console.log(words);
    if (values.html !== undefined) {
      await writeFile(values.html, benchFigure(run, words).toPage("Speed of transfers"));
      console.log(`\nWrote ${values.html}`);
    }
    const slower = before === undefined ? 0 : compare(before, run, values.compare);
    return slower === 0 && run.failures.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(`${error.message}\n\n${USAGE.split("\n")[0]}, see --help`);
    return 2;
  }
}

const OPTIONS = {
  html: { type: "string" },
  compare: { type: "string" },
  help: { type: "boolean" },
} as const;

function parse(args: readonly string[]) {
  try {
    const found = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
    for (const name of ["html", "compare"] as const) {
      if (found.values[name] === "") {
        throw new TypeError(`Cannot use --${name} "": expected a file`);
      }
    }
    return found;
  } catch (error) {
    throw new TypeError(describeParseError(error, Object.keys(OPTIONS)));
  }
}

/** Writes a run as tables of GB/s, one for each device. */
function describeRun(run: BenchRun): string {
  const devices = Map.groupBy(run.speeds, ({ device }) => device);
  const parts = [...devices].map(([device, speeds]) => {
    const sizes = [...new Set(speeds.map(({ byteLength }) => byteLength))].sort((a, b) => a - b);
    const names = [...new Set(speeds.map(({ name }) => name))];
    const hasCeiling = speeds.some(({ ceilingShare }) => ceilingShare !== undefined);
    const header = [
      `${device}, GB/s`,
      ...sizes.map((size) => formatBytes(size)),
      ...(hasCeiling ? ["of page-locked"] : []),
    ];
    const lines = names.map((name) => {
      const own = speeds.filter((speed) => speed.name === name);
      const shares = own.map(({ ceilingShare = NaN }) => ceilingShare).filter(Number.isFinite);
      return [
        name,
        ...sizes.map((size) =>
          speedText(own.find(({ byteLength }) => byteLength === size)?.gigabytesPerSecond)
        ),
        shares.length === 0 ? "" : `${(100 * Math.max(...shares)).toFixed(0)} %`,
      ];
    });
    const align = header.map((_, column) => column === 0 ? "left" : "right");
    const table = formatTable([header, ...lines], align);
    return device === SIMULATED
      ? `${table}\nThe device is simulated: no number means a speed.`
      : table;
  });
  const failures = run.failures.map(({ name, error }) => `${name} failed: ${error}`);
  const others = run.otherCount === 0 ? [] : [
    `Benches that do not tell their bytes, as transferBench() of vramkit/bench does: ${run.otherCount}`,
  ];
  return [...parts, ...failures, ...others].join("\n\n") || "No bench tells its bytes";
}

function speedText(gigabytesPerSecond: number | undefined): string {
  if (gigabytesPerSecond === undefined) return "";
  return gigabytesPerSecond >= 1000
    ? gigabytesPerSecond.toFixed(0)
    : gigabytesPerSecond.toPrecision(3);
}

/** Prints the benches that got slower than in an earlier run, and returns their number. */
function compare(before: BenchRun, now: BenchRun, name: string | undefined): number {
  const shared = compareRuns(before, now);
  if (shared.length === 0) {
    console.log(`No bench of ${name} is in this run, on the same device`);
    return 0;
  }
  const slowdowns = shared.filter(isSlower);
  for (const { before, now } of slowdowns) {
    console.log(
      `Slower: ${now.name}, ${formatBytes(now.byteLength)} on ${now.device}: ` +
        `${now.gigabytesPerSecond.toPrecision(3)} GB/s, before ` +
        `${before.gigabytesPerSecond.toPrecision(3)}`,
    );
  }
  console.log(
    `${slowdowns.length} of ${shared.length} benches got slower than the spread`,
  );
  return slowdowns.length;
}

/** Reads a run from a file, or from the standard input. */
async function readRun(path: string | undefined): Promise<BenchRun> {
  try {
    return parseBenchRun(path === undefined ? await readInput() : await readText(path));
  } catch (error) {
    throw new TypeError(`Cannot read ${path ?? "the standard input"}: ${messageOf(error)}`);
  }
}

async function readInput(): Promise<string> {
  const isTyped = Deno.stdin.isTerminal();
  const text = isTyped ? "" : await new Response(Deno.stdin.readable).text();
  if (text.trim() !== "") return text;
  throw new TypeError(
    `it is ${isTyped ? "a terminal" : "empty"}, expected the output of deno bench --json`,
  );
}

async function writeFile(path: string, page: Promise<string>): Promise<void> {
  try {
    await Deno.writeTextFile(path, await page);
  } catch (error) {
    const isNowhere = error instanceof Deno.errors.NotFound;
    const reason = isNowhere ? "its folder does not exist" : reasonOf(error);
    throw new TypeError(`Cannot write ${path}: ${reason}`);
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
