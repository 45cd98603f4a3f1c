// The page of a machine, or of several side by side: rows that want a look first, then plots, and all rows with
// the commands that check them. It needs no network, and prints on two sheets.

import { inNotebook } from "../accounting/notebook_kernel.ts";
import { escapeHtml } from "../cards/html.ts";
import { BandwidthResult } from "../measure/bandwidth_result.ts";
import { LinkBandwidthResult } from "../measure/link_bandwidth_result.ts";
import { plotBandwidth } from "../notebook/bandwidth_plot.ts";
import type { Figure } from "../notebook/figure.ts";
import { plotPage } from "../notebook/figure_html.ts";
import { plotLinks } from "../notebook/links_plot.ts";
import { givePlotlyToPage } from "../notebook/plotly.ts";
import { formatSeconds } from "../words/format.ts";
import { type ComparedRow, differences } from "./differences.ts";
import type { MachineReport, MachineRow } from "./machine_report.ts";
import {
  attention,
  expectedText,
  summaryOf,
  titleOf,
  valueText,
  VERDICTS,
} from "./machine_text.ts";

const STYLE = `
.machine { font: 14px/1.45 system-ui, sans-serif; max-width: 1180px; margin: 0 auto; padding: 16px; }
.machine h1 { font-size: 22px; margin: 0 0 4px; }
.machine h2 { font-size: 16px; margin: 22px 0 6px; }
.machine p { margin: 4px 0; }
.machine .scroll { overflow-x: auto; }
.machine table { border-collapse: collapse; width: 100%; min-width: 720px; table-layout: fixed;
  font-size: 13px; }
.machine th, .machine td { text-align: left; vertical-align: top; padding: 3px 10px 3px 0;
  border-bottom: 1px solid rgba(128,128,128,.3); overflow-wrap: anywhere; }
.machine th { font-weight: 600; }
.machine .n { text-align: right; }
.machine .v { white-space: nowrap; font-weight: 600; }
.machine .bad .v { color: light-dark(#b3261e, #ff8a80); }
.machine .look .v { color: light-dark(#8a5300, #f0b429); }
.machine .good .v { color: light-dark(#1b6e3c, #6fcf97); }
.machine small, .machine code, .machine .muted { color: light-dark(#59606a, #a6adb8); }
.machine code { font: 12px ui-monospace, Menlo, Consolas, monospace; }
.machine i { display: block; height: 3px; margin: 2px 0 0 auto; background: #2f81c7; print-color-adjust: exact; }
.machine .plots { display: grid; gap: 8px 24px; margin-top: 16px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); }
.machine .plots > div { min-width: 0; }
@media print {
  @page { size: A4; margin: 9mm; }
  .machine { font-size: 9px; padding: 0; max-width: none; }
  .machine h1 { font-size: 14px; }
  .machine h2 { font-size: 10px; margin: 6px 0 1px; break-after: avoid; }
  .machine table { font-size: 7.5px; min-width: 0; }
  .machine th, .machine td { padding: .5px 5px .5px 0; line-height: 1.2; }
  .machine code { font-size: 6.5px; }
  .machine tr, .machine .plots > div { break-inside: avoid; }
  .machine .plots { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 8px; }
  .machine .plots > div { zoom: .6; }
  .machine .modebar { display: none; }
}
`;

/** Gives plots the width that two of them have beside each other on paper, while it is printed. */
const PRINTING = `
function fit(width) {
  document.querySelectorAll(".js-plotly-plot").forEach(function (plot) {
    Plotly.relayout(plot, { width: width, autosize: width === null });
  });
}
addEventListener("beforeprint", function () { fit(560); });
addEventListener("afterprint", function () { fit(null); });`;

/** Builds a whole page. */
export async function machinePage(reports: readonly MachineReport[]): Promise<string> {
  return await plotPage({
    title: headingOf(reports),
    style:
      `:root { color-scheme: light dark; } body { margin: 0; background: Canvas; color: CanvasText; }
@media print { :root { color-scheme: light; } }`,
    body: `${contentsOf(reports)}
<script>${PRINTING}</script>`,
  });
}

/** Builds the contents for a notebook, whose page gets plotly.js. */
export async function machineFragment(report: MachineReport): Promise<string> {
  if (inNotebook()) await givePlotlyToPage("cartesian");
  return contentsOf([report]);
}

function headingOf(reports: readonly MachineReport[]): string {
  const [only, ...others] = reports.map(titleOf);
  return others.length === 0 ? `${only}` : `${reports.length} machines, side by side`;
}

function contentsOf(reports: readonly MachineReport[]): string {
  const plots = plotsOf(reports).map((figure) => `<div>${figure.toHTML()}</div>`);
  const [only, ...others] = reports;
  const [above, below] = only === undefined || others.length > 0
    ? sideBySide(reports)
    : partsOf(only);
  return `<style>${STYLE}</style>
<main class="machine">
<h1>${escapeHtml(headingOf(reports))}</h1>
${above}
<div class="plots">
${plots.join("\n")}
</div>
${below}
</main>`;
}

/** Plots arrays by size, and the links of a machine alone. */
function plotsOf(reports: readonly MachineReport[]): Figure[] {
  const results = reports.flatMap(({ bandwidth }) =>
    bandwidth.filter(({ points }) => points.length > 0).map((data) =>
      new BandwidthResult({ ...data })
    )
  );
  const links = reports.length > 1 ? [] : reports.flatMap(({ links }) => links ?? []);
  return [
    ...results.length === 0 ? [] : [plotBandwidth(results)],
    ...links.filter(({ cases }) => cases.length > 0)
      .map((data) => plotLinks(new LinkBandwidthResult({ ...data }))),
  ];
}

/** The parts of a machine's page above the plots, and below them. */
function partsOf(report: MachineReport): [above: string, below: string] {
  const { vramkit, deno, seconds, rows } = report;
  const noted = attention(report);
  const made = `vramkit ${vramkit}, Deno ${deno}, ${formatSeconds(seconds)}`;
  const groups = [...Map.groupBy(rows, ({ group }) => group)];
  return [
    `<p>${escapeHtml(summaryOf(report))}</p>
<p class="muted">${escapeHtml(made)}. GB/s are 10^9 bytes a second, each byte counted once.</p>
${noted.length === 0 ? "" : `<h2>Worth a look</h2>${rowTable(noted)}`}`,
    groups.map(([group, own]) => `<h2>${escapeHtml(group)}</h2>${rowTable(own)}`).join("\n"),
  ];
}

function rowTable(rows: readonly MachineRow[]): string {
  const columns = [[27, ""], [17, "value"], [11, "should be"], [10, ""], [35, ""]] as const;
  const lines = rows.map((row) => {
    const { sign, words } = VERDICTS[row.verdict];
    return `<tr class="${row.verdict}"><td>${escapeHtml(row.name)}</td>` +
      `<td class="n">${valueCell(row)}</td><td class="n">${escapeHtml(expectedText(row))}</td>` +
      `<td class="v">${sign} ${words}</td><td>${remarksOf(row)}</td></tr>`;
  });
  return tableOf(columns, lines);
}

/** Builds a table of columns with a width in percent and a heading. */
function tableOf(
  columns: readonly (readonly [percent: number, heading: string])[],
  lines: readonly string[],
): string {
  const widths = columns.map(([percent]) => `<col style="width:${percent}%">`);
  const headings = columns.map(([, heading]) => `<th class="n">${escapeHtml(heading)}</th>`);
  return `<div class="scroll"><table><colgroup>${widths.join("")}</colgroup><thead><tr>${
    headings.join("")
  }</tr></thead><tbody>${lines.join("\n")}</tbody></table></div>`;
}

/** The value, half of the range of its samples, and a bar for its share of the expectation. */
function valueCell(row: MachineRow): string {
  const { least, most, value, expected, better } = row;
  const text = escapeHtml(valueText(row));
  if (least === undefined || most === undefined || typeof value !== "number" || value === 0) {
    return text;
  }
  const spread = `${text} <small>±${(50 * (most - least) / value).toFixed(1)} %</small>`;
  if (typeof expected !== "number") return spread;
  const share = better === "less" ? expected / value : value / expected;
  return `${spread}<i style="width:${Math.min(100, 100 * share).toFixed(0)}%"></i>`;
}

/** The cause, the origin of the expectation, and the command. */
function remarksOf({ words, expectedFrom, check }: MachineRow): string {
  return [
    ...(words === "" ? [] : [escapeHtml(words)]),
    ...(expectedFrom === undefined ? [] : [`<small>should be ${escapeHtml(expectedFrom)}</small>`]),
    `<code>${escapeHtml(check)}</code>`,
  ].join(" <small>·</small> ");
}

function sideBySide(reports: readonly MachineReport[]): [above: string, below: string] {
  const { different, alike, single } = differences(reports);
  // A number tells machines of one name apart.
  const names = reports.map(titleOf).map((name, at, all) =>
    all.indexOf(name) === all.lastIndexOf(name) ? name : `${name} (${at + 1})`
  );
  const columns = names.map((name) => [58 / names.length, name] as const);
  const table = (rows: readonly ComparedRow[]) =>
    tableOf([[28, ""], ...columns, [14, ""]], rows.map(comparedLine));
  const summaries = reports.map((report, at) =>
    `<p><b>${escapeHtml(names[at] ?? "")}</b>: ${escapeHtml(summaryOf(report))}</p>`
  );
  return [
    `${summaries.join("\n")}
<h2>Different beyond the spread of the samples</h2>
${different.length === 0 ? "<p>Nothing.</p>" : table(different)}`,
    `<h2>Alike</h2>${table(alike)}` +
    (single.length === 0 ? "" : `<h2>Of one machine alone</h2>${table(single)}`),
  ];
}

function comparedLine({ rows, words }: ComparedRow): string {
  const [group] = rows.flatMap((row) => row?.group ?? []);
  const names = new Set(rows.flatMap((row) => row?.name ?? []));
  const cells = rows.map((row) => {
    if (row === undefined) return "<td></td>";
    const { verdict } = row;
    const sign = `<span class="v">${VERDICTS[verdict].sign}</span>`;
    return `<td class="n ${verdict}">${sign} ${valueCell(row)}</td>`;
  });
  return `<tr><td>${escapeHtml(`${group}: ${[...names].join(" / ")}`)}</td>${cells.join("")}` +
    `<td>${escapeHtml(words)}</td></tr>`;
}
