// The page of a machine, or of several side by side: what wants a look first, then all rows with the commands
// that check them, and plots. It needs no network, and prints on two sheets.

import { inNotebook } from "../accounting/notebook_kernel.ts";
import { escapeHtml } from "../cards/html.ts";
import { givePlotlyToPage, plotlyScript } from "../notebook/plotly.ts";
import { formatSeconds } from "../words/format.ts";
import { type ComparedRow, differences } from "./differences.ts";
import { machinePlots, type NamedReport } from "./machine_plots.ts";
import type { MachineReport, MachineRow } from "./machine_report.ts";
import {
  attention,
  expectedText,
  summaryOf,
  titleOf,
  valueText,
  VERDICTS,
} from "./machine_text.ts";

/** Nothing is fetched: the page has all that it shows. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

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
.machine .plots { display: grid; gap: 8px 24px; margin-top: 16px; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 1000px) { .machine .plots { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
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
  const machines = named(reports);
  const [only, ...others] = machines;
  const title = only !== undefined && others.length === 0
    ? only.name
    : `${machines.length} machines, side by side`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>:root { color-scheme: light dark; } body { margin: 0; background: Canvas; color: CanvasText; }
@media print { :root { color-scheme: light; } }</style>
${await plotlyScript("cartesian")}
</head>
<body>
${contentsOf(machines)}
<script>${PRINTING}</script>
</body>
</html>
`;
}

/** Builds the contents for a notebook, whose page gets plotly.js. */
export async function machineFragment(reports: readonly MachineReport[]): Promise<string> {
  if (inNotebook()) await givePlotlyToPage("cartesian");
  return contentsOf(named(reports));
}

/** Names that tell the machines apart. */
function named(reports: readonly MachineReport[]): NamedReport[] {
  const titles = reports.map(titleOf);
  return reports.map((report, at) => {
    const title = titles[at] ?? "";
    const isTwice = titles.filter((other) => other === title).length > 1;
    return { name: isTwice ? `${title} (${at + 1})` : title, report };
  });
}

function contentsOf(machines: readonly NamedReport[]): string {
  const plots = machinePlots(machines).map((figure) => `<div>${figure.toHTML()}</div>`);
  const [only, ...others] = machines;
  const [above, below] = only !== undefined && others.length === 0
    ? onePage(only.report)
    : severalPage(machines);
  return `<style>${STYLE}</style>
<main class="machine">
${above}
<div class="plots">
${plots.join("\n")}
</div>
${below}
</main>`;
}

/** The parts above the plots, and those below them. */
type Parts = readonly [above: string, below: string];

function onePage(report: MachineReport): Parts {
  const { vramkit, deno, seconds } = report;
  const noted = attention(report);
  const groups = [...Map.groupBy(report.rows, ({ group }) => group)];
  const above = `<h1>${escapeHtml(titleOf(report))}</h1>
<p>${escapeHtml(summaryOf(report))}</p>
<p class="muted">vramkit ${escapeHtml(vramkit)}, Deno ${escapeHtml(deno)}, ${
    escapeHtml(formatSeconds(seconds))
  }. GB/s are 10^9 bytes a second, each byte counted once.</p>
${noted.length === 0 ? "" : `<h2>Worth a look</h2>${rowTable(noted)}`}`;
  const below = groups.map(([group, rows]) => `<h2>${escapeHtml(group)}</h2>${rowTable(rows)}`);
  return [above, below.join("\n")];
}

function rowTable(rows: readonly MachineRow[]): string {
  const lines = rows.map((row) =>
    `<tr class="${row.verdict}"><td>${escapeHtml(row.name)}</td>` +
    `<td class="n">${valueCell(row)}</td><td class="n">${escapeHtml(expectedText(row))}</td>` +
    `<td class="v">${verdictText(row)}</td><td>${remarksOf(row)}</td></tr>`
  );
  const widths = [27, 17, 11, 8, 37].map((percent) => `<col style="width:${percent}%">`).join("");
  const header = '<th></th><th class="n">value</th><th class="n">should be</th><th></th><th></th>';
  return tableOf({ widths, header, lines });
}

function tableOf(
  { widths, header, lines }: {
    readonly widths: string;
    readonly header: string;
    readonly lines: readonly string[];
  },
): string {
  return `<div class="scroll"><table><colgroup>${widths}</colgroup><thead><tr>${header}</tr></thead>` +
    `<tbody>${lines.join("\n")}</tbody></table></div>`;
}

function verdictText({ verdict }: MachineRow): string {
  return `${VERDICTS[verdict].sign} ${VERDICTS[verdict].words}`;
}

/** The value, and half of the range of its samples. */
function valueCell(row: MachineRow): string {
  const { least, most, value } = row;
  const text = escapeHtml(valueText(row));
  if (least === undefined || most === undefined || typeof value !== "number" || value === 0) {
    return text;
  }
  return `${text} <small>±${(50 * (most - least) / value).toFixed(1)} %</small>`;
}

/** The cause, the origin of the expectation, and the command. */
function remarksOf({ words, expectedFrom, check }: MachineRow): string {
  return [
    ...(words === "" ? [] : [escapeHtml(words)]),
    ...(expectedFrom === undefined ? [] : [`<small>should be ${escapeHtml(expectedFrom)}</small>`]),
    `<code>${escapeHtml(check)}</code>`,
  ].join(" <small>·</small> ");
}

function severalPage(machines: readonly NamedReport[]): Parts {
  const { different, alike } = differences(machines.map(({ report }) => report));
  const names = machines.map(({ name }) => `<th class="n">${escapeHtml(name)}</th>`).join("");
  const share = 58 / machines.length;
  const widths = [28, ...machines.map(() => share), 14].map((percent) =>
    `<col style="width:${percent}%">`
  ).join("");
  const table = (rows: readonly ComparedRow[]) =>
    tableOf({ widths, header: `<th></th>${names}<th></th>`, lines: rows.map(comparedLine) });
  const above = [
    `<h1>${machines.length} machines, side by side</h1>`,
    ...machines.map(({ name, report }) =>
      `<p><b>${escapeHtml(name)}</b>: ${escapeHtml(summaryOf(report))}</p>`
    ),
    "<h2>Different beyond the spread of the samples</h2>",
    different.length === 0 ? "<p>Nothing.</p>" : table(different),
  ];
  return [above.join("\n"), `<h2>Alike</h2>${table(alike)}`];
}

function comparedLine({ rows, words }: ComparedRow): string {
  const first = rows.find((row) => row !== undefined);
  const cells = rows.map((row) =>
    row === undefined
      ? '<td class="n"></td>'
      : `<td class="n ${row.verdict}">${valueCell(row)} <span class="v">${
        VERDICTS[row.verdict].sign
      }</span></td>`
  );
  return `<tr><td>${escapeHtml(`${first?.group}: ${first?.name}`)}</td>${cells.join("")}` +
    `<td>${escapeHtml(words)}</td></tr>`;
}
