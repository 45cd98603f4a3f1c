// The rows in which machines differ by more than the spread of their samples, the largest difference first.

import type { MachineReport, MachineRow } from "./machine_report.ts";

/** A row of each machine; undefined where one lacks it. */
export interface ComparedRow {
  readonly rows: readonly (MachineRow | undefined)[];
  readonly words: string;
}

/** Differences below this share are never worth a name: clocks and other programs move that much. */
const MIN_SHARE = 0.02;

/** Compares reports row by row, by the rows' ids. */
export function differences(
  reports: readonly MachineReport[],
): Readonly<Record<"different" | "alike" | "single", readonly ComparedRow[]>> {
  const ids = new Set(reports.flatMap(({ rows }) => rows.map(({ id }) => id)));
  const compared = [...ids].map((id) => {
    const rows = reports.map((report) => report.rows.find((row) => row.id === id));
    return { rows, ...differenceOf(rows) };
  });
  return {
    different: compared.filter(({ rank }) => rank > 0).toSorted((a, b) => b.rank - a.rank),
    alike: compared.filter(({ rank }) => rank === 0),
    single: compared.filter(({ rank }) => rank < 0),
  };
}

/**
 * Ranks a difference: that of words before any of numbers, and these by their ratio; 0 for none, and less
 * where only one machine has the row.
 */
function differenceOf(rows: readonly (MachineRow | undefined)[]): { rank: number; words: string } {
  const there = rows.filter((row) => row !== undefined && row.value !== null) as MachineRow[];
  if (there.length < 2) return { rank: -1, words: "" };
  const numbers = there.flatMap(({ value, least, most }) =>
    typeof value === "number" ? [{ value, least: least ?? value, most: most ?? value }] : []
  ).toSorted((a, b) => a.value - b.value);
  if (numbers.length < there.length) {
    const isOne = new Set(there.map(({ value }) => value)).size === 1;
    const isRated = there.some(({ verdict }) => verdict !== "unrated");
    return { rank: isOne ? 0 : isRated ? 1e6 : 1, words: "" };
  }
  const [low, high] = [numbers[0], numbers.at(-1)];
  if (low === undefined || high === undefined || high.value === 0) return { rank: 0, words: "" };
  const share = (high.value - low.value) / high.value;
  if (share < MIN_SHARE || low.most >= high.least) return { rank: 0, words: "" };
  const isMeasured = new Set(there.map(({ verdict }) => verdict)).size > 1 ||
    there.every(({ least, better }) => least !== undefined || better !== undefined);
  return {
    // Facts such as a temperature differ all the time: they come last.
    rank: isMeasured ? 10 + 1000 * share : share,
    words: low.value <= 0 ? "" : `${(high.value / low.value).toFixed(2)} times`,
  };
}
