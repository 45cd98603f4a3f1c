// What the kit promises itself, with the newest figure for each: writes bench/README.md from the files in
// bench/results/: `deno task bench:musts`. A test compares the page with the files.

import { formatBytes } from "../mod.ts";
import type { CallRun, CallSummary, Phase } from "./peers/first_calls/plan.ts";
import type { BenchResult, BenchRow } from "./result_file.ts";

const RESULTS = new URL("results/", import.meta.url);
const PAGE = new URL("README.md", import.meta.url);

/** One promise, and what the newest file says about it. */
interface Must {
  readonly what: string;
  readonly promise: string;
  readonly figure: string;
  readonly holds: boolean;
  readonly file: string;
  readonly device: string;
}

/** Makes the text of the page. */
export function mustsPage(): string {
  const files = [...Deno.readDirSync(RESULTS)].map(({ name }) => name).filter(isJson).sort();
  const musts = files.flatMap(mustsIn);
  const newest = new Map(
    musts.map((must) => [`${must.what} ${must.promise} ${coresOf(must.file)}`, must]),
  );
  const open = [...newest.values()].filter(({ holds }) => !holds);
  const calls = files.filter((name) => name.startsWith("first_calls")).at(-1);
  return [
    "# What must hold",
    "",
    "Written by `deno task bench:musts` from the files in [results/](results/README.md), not by hand. A",
    "figure belongs to the machine and the program state of its file; the newest file of a kind counts.",
    `${newest.size - open.length} of ${newest.size} promises hold.`,
    "",
    ...open.length === 0 ? [] : ["## What falls short", "", ...table(open), ""],
    ...calls === undefined ? [] : callsChapter(calls),
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
  return file.startsWith("host_arrays");
}

function longFiles(musts: readonly Must[]): string[] {
  const files = Map.groupBy(musts, ({ file }) => file);
  const rows = [...files].map(([file, found]) => [
    `[${file}](results/${file})`,
    `${found.filter(({ holds }) => holds).length} of ${found.length}`,
  ]);
  return markdown([["ordinary arrays by size, beside the driver", "hold"], ...rows]);
}

/** The same bench on fewer cores is another question. */
function coresOf(file: string): string {
  return /cores_[\d-]+/.exec(file)?.[0] ?? "";
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
      device: device ?? "",
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
function callsChapter(file: string): string[] {
  const run = read(file) as CallRun;
  const lines = [
    "## The calls that people write first",
    "",
    "Ours as a multiple of the best of PyTorch, CuPy and JAX in the same run, by size: it must be 1 or",
    `more everywhere. ${run.device}, ${run.coreCount} cores, [${file}](results/${file}).`,
    "",
  ];
  for (const phase of ["cold", "warm"] as const) {
    lines.push(
      `### ${phase === "cold" ? "A program's first calls" : "A program that goes on"}`,
      "",
    );
    const rows = [...new Set(ours(run, phase).map(({ call, form }) => `${call}, ${form}`))].map(
      (name) => {
        const own = ours(run, phase).filter(({ call, form }) => `${call}, ${form}` === name);
        return [
          name,
          ...run.sizes.map((size) => ratioText(run, own.find((each) => each.byteLength === size))),
        ];
      },
    );
    lines.push(...markdown([["call", ...run.sizes.map((size) => formatBytes(size))], ...rows]), "");
  }
  return lines;
}

function ours({ documents }: CallRun, phase: Phase): CallSummary[] {
  const found = documents.filter(({ peer }) => peer === "vramkit").flatMap(({ results }) =>
    results
  );
  return found.filter((each) => each.phase === phase) as CallSummary[];
}

function ratioText({ documents }: CallRun, own: CallSummary | undefined): string {
  if (own === undefined) return "";
  const others = documents.filter(({ peer }) => !peer.startsWith("vramkit"))
    .flatMap(({ results }) => results as CallSummary[])
    .filter(({ call, phase, byteLength }) =>
      call === own.call && phase === own.phase && byteLength === own.byteLength
    );
  const ratio = Math.min(...others.map(({ seconds }) => seconds)) / own.seconds;
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

if (import.meta.main) Deno.writeTextFileSync(PAGE, mustsPage());
