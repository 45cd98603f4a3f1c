// Runs programs in processes of their own that take turns, so that what disturbs one disturbs them all.

import type { CallRun, CallTimes } from "./transfer/calls_by_size.ts";
import { type BenchRow, median } from "./result_file.ts";
import { formatBytes } from "../src/words/format.ts";

/** The least part of another one's speed that each call must have. */
const MIN_RATIO = 0.9;

/** Runs a program of the bench and returns the JSON that it prints last. */
export async function jsonOf(program: string, words: readonly string[]): Promise<unknown> {
  const path = new URL(program, import.meta.url).pathname;
  const args = ["run", "-A", "--no-check", path, ...words];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  const text = new TextDecoder();
  if (code !== 0) throw new Error(`${program} failed: ${text.decode(stderr)}`);
  return JSON.parse(text.decode(stdout).trim().split("\n").at(-1) ?? "");
}

/** Times the calls by size of several versions of the kit, by the path of their mod.ts, in turn. */
export async function callsInTurn(
  versions: Readonly<Record<string, string>>,
  { roundCount, words = [] }: { readonly roundCount: number; readonly words?: readonly string[] },
): Promise<Record<string, CallRun[]>> {
  const runs: Record<string, CallRun[]> = {};
  for (let round = 0; round < roundCount; round++) {
    const turns = Object.entries(versions);
    for (const [name, mod] of round % 2 === 0 ? turns : turns.toReversed()) {
      const run = await jsonOf("transfer/calls_by_size.ts", [mod, ...words]) as CallRun;
      (runs[name] ??= []).push(run);
    }
  }
  return runs;
}

/** Makes a row for each call and size: speed beside another one's, by the median of paired ratios. */
export function rowsOf(
  now: readonly CallRun[],
  before: readonly CallRun[],
  { name: other = "before" } = {},
): BenchRow[] {
  const rows: BenchRow[] = [];
  for (const [name, bySize] of Object.entries(now[0]?.times ?? {})) {
    for (const size of Object.keys(bySize).map(Number)) {
      const seconds = (times: CallTimes | undefined) => times?.[name]?.[size] ?? NaN;
      const ratios = now.map(({ times }, at) => seconds(before[at]?.times) / seconds(times));
      const speed = (runs: readonly CallRun[]) =>
        size / 1e9 / median(runs.map(({ times }) => seconds(times)));
      rows.push({
        name: `${name}, ${formatBytes(size)}${other === "before" ? "" : `, beside the ${other}`}`,
        value: speed(now),
        unit: "GB/s",
        reference: { name: other, value: speed(now) / median(ratios), samples: ratios },
        promise: {
          text: `at least ${MIN_RATIO} of ${other}`,
          holds: median(ratios) >= MIN_RATIO,
        },
      });
    }
  }
  return rows;
}

/** Prints the ratios of calls by size as a table, with geometric means and the cells that are too slow. */
export function printRatios(now: readonly CallRun[], before: readonly CallRun[]): void {
  const sizes = Object.keys(Object.values(now[0]?.times ?? {})[0] ?? {}).map(Number);
  console.log(["".padEnd(26), ...sizes.map((size) => formatBytes(size).padStart(9))].join(""));
  const all: number[] = [];
  const slow: string[] = [];
  for (const name of Object.keys(now[0]?.times ?? {})) {
    const ratios = sizes.map((size) => {
      const pairs = now.map(({ times }, at) => {
        return (before[at]?.times[name]?.[size] ?? NaN) / (times[name]?.[size] ?? NaN);
      });
      return median(pairs);
    });
    for (const [at, ratio] of ratios.entries()) {
      if (ratio < MIN_RATIO) {
        slow.push(`${name} of ${formatBytes(sizes[at] ?? 0)} ${ratio.toFixed(2)}`);
      }
    }
    all.push(...ratios);
    const cells = ratios.map((ratio) => ratio.toFixed(2).padStart(9)).join("");
    console.log(`${name.padEnd(26)}${cells}   mean ${geometricMean(ratios).toFixed(2)}`);
  }
  console.log(
    `mean of all ${geometricMean(all).toFixed(2)}; below ${MIN_RATIO}: ${
      slow.join(", ") || "none"
    }`,
  );
}

function geometricMean(ratios: readonly number[]): number {
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
}

/** Prints the speeds of calls by size as a table. */
export function printSpeeds(runs: readonly CallRun[]): void {
  for (const [name, bySize] of Object.entries(runs[0]?.times ?? {})) {
    const cells = Object.keys(bySize).map(Number).map((size) => {
      const seconds = median(runs.map(({ times }) => times[name]?.[size] ?? NaN));
      return (size / 1e9 / seconds).toFixed(2).padStart(9);
    });
    console.log(`${name.padEnd(26)}${cells.join("")}   GB/s`);
  }
}
