// How a bench of ours tells what it found: rows on the console, and a JSON file with provenance.

import type { CudaDevice } from "../mod.ts";
import type { Provenance } from "../src/notebook/mod.ts";
import { formatTable } from "../src/words/text_table.ts";

/** What a value is compared with, in the same unit. */
export interface Reference {
  /** What it is. */
  readonly name: string;
  /** What was found for it. */
  readonly value: number;
  /** What the value is the median of. */
  readonly samples?: readonly number[];
}

/** One line of a bench. */
export interface BenchRow {
  /** What was measured. */
  readonly name: string;
  /** What was found. */
  readonly value: number;
  /** In which unit: seconds, GB/s (1 GB = 10^9 bytes), bytes, a ratio, or how many. */
  readonly unit: "s" | "GB/s" | "bytes" | "ratio" | "count";
  /** What it is compared with. */
  readonly reference?: Reference | undefined;
  /** What the value is the median of. */
  readonly samples?: readonly number[];
  /** What the project promises, such as `"at least 0.99 of C++"`, and whether it held. */
  readonly promise?: { readonly text: string; readonly holds: boolean };
}

/** What a bench measured in one run on one machine. */
export interface BenchResult extends Provenance {
  /** Logical CPU cores that the process could use. */
  readonly coreCount: number;
  /** What was measured. */
  readonly rows: readonly BenchRow[];
}

/** Prints rows as a table and, when a path is given, writes them as a results file. */
export async function report(
  gpu: CudaDevice,
  rows: readonly BenchRow[],
  path: string | undefined,
): Promise<void> {
  console.log(`${gpu}, ${navigator.hardwareConcurrency} cores`);
  console.log(formatRows(rows));
  if (path === undefined) return;
  const result: BenchResult = {
    ...gpu.provenance(),
    coreCount: navigator.hardwareConcurrency,
    rows,
  };
  await Deno.writeTextFile(path, JSON.stringify(result, null, 2) + "\n");
  console.log(`Wrote ${path}`);
}

/** The middle of some samples. */
export function median(samples: readonly number[]): number {
  return samples.toSorted((a, b) => a - b)[samples.length >> 1] ?? NaN;
}

function formatRows(rows: readonly BenchRow[]): string {
  const header = ["what", "ours", "beside", "ratio", "promise"];
  const lines = rows.map(({ name, value, unit, reference, promise }) => [
    name,
    formatValue(value, unit),
    reference === undefined ? "" : `${formatValue(reference.value, unit)} ${reference.name}`,
    reference === undefined ? "" : (value / reference.value).toFixed(3),
    promise === undefined ? "" : `${promise.holds ? "holds" : "FAILS"}: ${promise.text}`,
  ]);
  return formatTable([header, ...lines], ["left", "right", "right", "right"]);
}

function formatValue(value: number, unit: BenchRow["unit"]): string {
  if (unit === "ratio") return value.toFixed(3);
  if (unit === "count") return String(value);
  if (unit === "bytes") return `${Math.round(value)} bytes`;
  if (unit === "GB/s") return `${value.toFixed(2)} GB/s`;
  if (value < 1e-5) return `${(value * 1e9).toFixed(0)} ns`;
  return value < 0.01 ? `${(value * 1e6).toFixed(1)} us` : `${(value * 1e3).toFixed(1)} ms`;
}
