// The results of a bench: rows on the console, and a JSON file with provenance.

import type { CudaDevice } from "../mod.ts";
import type { Provenance } from "../src/notebook/mod.ts";
import { formatTable } from "../src/words/text_table.ts";

/** A value beside the measured one, in the same unit. */
export interface Reference {
  /** Its name. */
  readonly name: string;
  /** The value. */
  readonly value: number;
  /** The samples whose median the value is. */
  readonly samples?: readonly number[];
}

/** One line of a bench. */
export interface BenchRow {
  /** Name of the measurement. */
  readonly name: string;
  /** The result. */
  readonly value: number;
  /** Its unit: seconds, GB/s (1 GB = 10^9 bytes), bytes, a ratio, or a count. */
  readonly unit: "s" | "GB/s" | "bytes" | "ratio" | "count";
  /** The value that it is compared with. */
  readonly reference?: Reference | undefined;
  /** The samples whose median the value is. */
  readonly samples?: readonly number[];
  /** The project's promise, such as `"at least 0.99 of C++"`, and whether it held. */
  readonly promise?: { readonly text: string; readonly holds: boolean };
}

/** The results of one run on one machine. */
export interface BenchResult extends Provenance {
  /** Logical CPU cores that the process could use. */
  readonly coreCount: number;
  /** The measurements. */
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

/** Formats rows as a table. */
export function formatRows(rows: readonly BenchRow[]): string {
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
