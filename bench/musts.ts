// The kit's promises, with the newest figure for each: writes the second part of bench/README.md from
// the files in bench/results/: `deno task bench musts`. A test compares the page with the files.

import { formatBytes } from "../mod.ts";
import { readWords } from "./arguments.ts";
import { cellOf } from "./peers/first_calls/page.ts";
import { type Call, type CallRun, CALLS, type Phase } from "./peers/first_calls/plan.ts";
import type { BenchResult, BenchRow } from "./result_file.ts";

const RESULTS = new URL("results/", import.meta.url);
const PAGE = new URL("README.md", import.meta.url);
const TITLE = "# What must hold";

/** One promise, and the figure of the newest file. */
interface Must {
  readonly what: string;
  readonly promise: string;
  readonly figure: string;
  readonly holds: boolean;
  readonly file: string;
  readonly device: string;
}

/** Makes the text of the page, behind the part that is written by hand. */
export function mustsPage(): string {
  const byHand = Deno.readTextFileSync(PAGE).split(`${TITLE}\n`)[0];
  const files = [...Deno.readDirSync(RESULTS)].map(({ name }) => name).filter(isJson).sort();
  const musts = files.flatMap(mustsIn);
  const newest = new Map(
    musts.map((must) => [`${must.what} ${must.promise} ${machineOf(must.file)}`, must]),
  );
  const open = [...newest.values()].filter(({ holds }) => !holds);
  return [
    `${byHand}${TITLE}`,
    "",
    "Written by `deno task bench musts` from the files in [results/](results/README.md), not by hand. A",
    "figure belongs to the machine and the program state of its file; the newest file of a kind counts.",
    `${newest.size - open.length} of ${newest.size} promises hold.`,
    "",
    ...open.length === 0 ? [] : ["## What falls short", "", ...table(open), ""],
    ...callsChapter(files.filter((name) => name.startsWith("first_calls"))),
    "## Everything",
    "",
    ...table([...newest.values()].filter(({ file }) => !isLong(file))),
    "",
    ...longFiles([...newest.values()].filter(({ file }) => isLong(file))),
    "",
  ].join("\n");
}

function isJson(name: string): boolean {
  return name.endsWith(".json");
}

/** Files with a promise for each size, direction and form; the page has a line for each file. */
function isLong(file: string): boolean {
  return file.startsWith("host_arrays") || file.startsWith("versions");
}

function longFiles(musts: readonly Must[]): string[] {
  const files = Map.groupBy(musts, ({ file }) => file);
  const rows = [...files].map(([file, found]) => [
    `[${file}](results/${file})`,
    `${found.filter(({ holds }) => holds).length} of ${found.length}`,
  ]);
  return markdown([
    ["ordinary arrays by size, beside the driver or the version before", "hold"],
    ...rows,
  ]);
}

/** The same bench on fewer cores, or on more GPUs than two, is another question; versions are on each card. */
function machineOf(file: string): string {
  if (file.startsWith("versions")) return file.replace(/\d{4}-.*/, "");
  return /cores_[\d-]+|\d+_gpus/.exec(file)?.[0] ?? "";
}

/** The device of a file, and how many of them where the file's name says it. */
function devicesOf(file: string, device = ""): string {
  const count = /(\d+)_gpus/.exec(file)?.[1];
  return count === undefined ? device : `${count} x ${device}`;
}

function mustsIn(file: string): Must[] {
  const { rows, device } = read(file) as Partial<BenchResult>;
  return (rows ?? []).flatMap((row): Must[] => {
    if (row.promise === undefined) return [];
    const { text, holds } = row.promise;
    return [{
      what: row.name,
      promise: text,
      figure: figureOf(row),
      holds,
      file,
      device: devicesOf(file, device),
    }];
  });
}

function figureOf({ value, unit, reference }: BenchRow): string {
  const own = valueText(value, unit);
  return reference === undefined
    ? own
    : `${own}, ${reference.name} ${valueText(reference.value, unit)}`;
}

function valueText(value: number, unit: BenchRow["unit"]): string {
  if (unit === "s") {
    return value < 1e-3
      ? `${(value * 1e6).toPrecision(3)} us`
      : `${value < 1 ? (value * 1e3).toPrecision(3) : Math.round(value * 1e3)} ms`;
  }
  const text = Math.abs(value) >= 1000 ? value.toFixed(0) : value.toPrecision(3);
  return unit === "ratio" || unit === "count" ? text : `${text} ${unit}`;
}

function table(musts: readonly Must[]): string[] {
  const rows = musts.map(({ what, promise, figure, holds, file, device }) => [
    what,
    promise,
    figure,
    holds ? "yes" : "**no**",
    `[${device}](results/${file})`,
  ]);
  return markdown([["what", "promise", "figure", "holds", "file"], ...rows]);
}

/** The calls that people write first, beside the best of the other libraries. */
function callsChapter(files: readonly string[]): string[] {
  const runs = newestRuns(files);
  if (runs.length === 0) return [];
  const ratios = runs.flatMap(({ run }) => [...ratioRows(run, "cold"), ...ratioRows(run, "warm")])
    .flatMap(([, ...cells]) => cells).filter((text) => text !== "");
  const short = ratios.filter((text) => text.startsWith("**"));
  return [
    "## The calls that people write first",
    "",
    "Ours as a multiple of the best of PyTorch, CuPy and JAX in the same run, by size: it must be 1 or",
    `more everywhere, and is so in ${
      ratios.length - short.length
    } of ${ratios.length} places, which the count above leaves out.`,
    "",
    ...runs.flatMap(({ file, run }) => runChapter(file, run)),
  ];
}

/** A run, and the file that it lies in. */
interface KeptRun {
  readonly file: string;
  readonly run: CallRun;
}

/**
 * The newest run up to the largest arrays of each machine and number of cores: most cores first, then
 * the newest.
 */
function newestRuns(files: readonly string[]): KeptRun[] {
  const largest = ({ sizes }: CallRun) => Math.max(...sizes);
  const kept = files.map((file) => ({ file, run: read(file) as CallRun }))
    .toSorted((a, b) => largest(a.run) - largest(b.run) || (a.run.date < b.run.date ? -1 : 1));
  const newest = new Map(
    kept.map((found) => [`${found.run.device}, ${found.run.coreCount} cores`, found]),
  );
  return [...newest.values()].toSorted((a, b) =>
    b.run.coreCount - a.run.coreCount || (a.run.date < b.run.date ? 1 : -1)
  );
}

function runChapter(file: string, run: CallRun): string[] {
  const peers = [...new Set(run.documents.map(({ peer }) => peer))].slice(1).join(", ");
  const lines = [
    `### ${run.device}, ${run.coreCount} cores`,
    "",
    `Beside ${peers}, in [${file}](results/${file}).`,
    "",
  ];
  for (const phase of ["cold", "warm"] as const) {
    const title = phase === "cold" ? "a program's first calls" : "a program that goes on";
    const sizes = run.sizes.map((size) => formatBytes(size));
    lines.push(...markdown([[title, ...sizes], ...ratioRows(run, phase)]), "");
  }
  return lines;
}

/** A row for each call and form that the run has. */
function ratioRows(run: CallRun, phase: Phase): string[][] {
  const rows = (["awaited", "blocking"] as const).flatMap((form) =>
    (Object.keys(CALLS) as Call[]).map((call) => [
      `${call}, ${form}`,
      ...run.sizes.map((byteLength) => {
        const cell = cellOf(run, { call, phase, form, byteLength });
        return cell === undefined ? "" : ratioText(cell.ratio);
      }),
    ])
  );
  return rows.filter(([, ...cells]) => cells.some((text) => text !== ""));
}

function ratioText(ratio: number): string {
  return ratio < 1 ? `**${ratio.toFixed(2)}**` : ratio.toFixed(2);
}

/** Lays a table out as the formatter does. */
function markdown([header = [], ...rows]: readonly (readonly string[])[]): string[] {
  const widths = header.map((_, at) =>
    Math.max(3, ...[header, ...rows].map((row) => (row[at] ?? "").length))
  );
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, at) => (row[at] ?? "").padEnd(width)).join(" | ")} |`;
  return [line(header), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)];
}

function read(file: string): unknown {
  return JSON.parse(Deno.readTextFileSync(new URL(file, RESULTS)));
}

if (import.meta.main) {
  readWords({ most: 0 });
  Deno.writeTextFileSync(PAGE, mustsPage());
}
