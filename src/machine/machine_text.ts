// A machine's report as text: values, rows and the title, in the words that the page has, too.

import { formatCount, visibleLines, visibleText } from "../words/format.ts";
import { formatTable } from "../words/text_table.ts";
import { wrapped } from "../words/wrapping.ts";
import type { MachineReport, MachineRow, Verdict } from "./machine_report.ts";

/** The words and the sign of each verdict: it is read without colours. */
export const VERDICTS: Readonly<
  Record<Verdict, { readonly sign: string; readonly words: string }>
> = {
  bad: { sign: "✗", words: "wrong" },
  look: { sign: "!", words: "look" },
  good: { sign: "✓", words: "good" },
  unrated: { sign: "·", words: "" },
};

/** Returns the rows that want attention, the worst first. */
export function attention(report: MachineReport): MachineRow[] {
  return [...rowsWith(report, "bad"), ...rowsWith(report, "look")];
}

function rowsWith({ rows }: MachineReport, wanted: Verdict): MachineRow[] {
  return rows.filter(({ verdict }) => verdict === wanted);
}

/** Writes a row's value; a simulated one says so. */
export function valueText({ value, unit, isModelled }: MachineRow): string {
  if (value === null) return "unknown";
  const words = `${numberText(value)}${unit === "" ? "" : ` ${unit}`}`;
  return isModelled === true ? `Simulated ${words}` : words;
}

/** Writes a row's expectation; empty without one. */
export function expectedText({ expected, unit }: MachineRow): string {
  if (expected === undefined) return "";
  return `${numberText(expected)}${unit === "" ? "" : ` ${unit}`}`;
}

/** Writes a number with three digits, or more where it is a whole one. */
export function numberText(value: number | string): string {
  if (typeof value === "string") return visibleText(value);
  return Number.isInteger(value) || value >= 1000
    ? `${Math.round(value)}`
    : `${+value.toPrecision(3)}`;
}

/** Says which machine it is, and when it was measured. */
export function titleOf({ gpus, whyNoGpu, isModelled, date, driver }: MachineReport): string {
  const names = Map.groupBy(gpus, ({ name }) => name);
  const all = [...names].map(([name, { length }]) => length === 1 ? name : `${length} × ${name}`);
  const machine = isModelled ? "Simulated GPU" : whyNoGpu === null ? all.join(", ") : "No GPU";
  const version = driver === null ? "" : `, driver ${driver.version ?? driver.cuda}`;
  return `${machine}${version}, ${date.slice(0, 10)}`;
}

/** Sums a report up in a sentence. */
export function summaryOf(report: MachineReport): string {
  const { isModelled, unfinished, whyNoGpu } = report;
  const count = (verdict: Verdict) => rowsWith(report, verdict).length;
  return [
    `${formatCount(count("good"), "row")} as they should be, ${count("look")} worth a look, ` +
    `${count("bad")} wrong.`,
    ...(isModelled ? ["Simulated: no GPU was measured."] : []),
    ...(unfinished === null ? [] : [`Unfinished, ${unfinished}.`]),
    ...(whyNoGpu === null ? [] : [`${whyNoGpu}.`]),
  ].join(" ");
}

/** Writes a report: rows that want attention first, then all rows by group. */
export function machineText(report: MachineReport): string {
  const noted = attention(report).map((row) =>
    wrapped(
      `${VERDICTS[row.verdict].sign} ${row.name}: ${valueText(row)}` +
        `${row.expected === undefined ? "" : `, expected ${expectedText(row)}`}. ${row.words}`,
      "    ",
    )
  );
  const groups = [...Map.groupBy(report.rows, ({ group }) => group)].map(([group, rows]) =>
    formatTable(
      [
        [group, "value", "expected", ""],
        ...rows.map((row) => [
          row.name,
          valueText(row),
          expectedText(row),
          VERDICTS[row.verdict].words,
        ]),
      ],
      ["left", "right", "right", "left"],
    )
  );
  const parts = [`${titleOf(report)}\n${wrapped(summaryOf(report))}`, ...noted, ...groups];
  return visibleLines(parts.join("\n\n")); // a report may come from a stranger
}
