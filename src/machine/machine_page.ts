// The page of a machine, or of several side by side: what wants a look first, then all rows with the commands
// that check them, and plots. It needs no network, and prints on two sheets.

import { inNotebook } from "../accounting/notebook_kernel.ts";
import { escapeHtml } from "../cards/html.ts";
import { givePlotlyToPage, plotlyScript } from "../notebook/plotly.ts";
import { formatSeconds } from "../words/format.ts";
import { differences } from "./differences.ts";
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
.machine table { border-collapse: collapse; width: 100%; font-size: 13px; }
.machine th, .machine td { text-align: left; vertical-align: top; padding: 3px 12px 3px 0;
  border-bottom: 1px solid rgba(128,128,128,.3); overflow-wrap: anywhere; }
.machine th { font-weight: 600; white-space: nowrap; }
.machine .n { text-align: right; white-space: nowrap; overflow-wrap: normal; }
.machine .name { min-width: 170px; }
.machine .v { white-space: nowrap; font-weight: 600; }
.machine .bad .v { color: light-dark(#b3261e, #ff8a80); }
.machine .look .v { color: light-dark(#8a5300, #f0b429); }
.machine .good .v { color: light-dark(#1b6e3c, #6fcf97); }
.machine small, .machine .muted { color: light-dark(#59606a, #a6adb8); }
.machine code { font: 12px ui-monospace, Menlo, Consolas, monospace; }
.machine .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr)); gap: 16px; }
.machine .plots > div { min-width: 0; }
@media print {
  @page { size: A4; margin: 9mm; }
  .machine { font-size: 8.5px; padding: 0; max-width: none; }
  .machine h1 { font-size: 14px; } .machine h2 { font-size: 10.5px; margin: 6px 0 2px; break-after: avoid; }
  .machine table { font-size: 7.5px; } .machine th, .machine td { padding: .5px 5px .5px 0; line-height: 1.25; }
  .machine code { font-size: 6.5px; } .machine tr, .machine .plots > div { break-inside: avoid; }
  .machine .plots { display: block; column-count: 2; column-gap: 10px; }
  .machine .plots > div { zoom: .62; }
  .machine .modebar { display: none; }
}
`;

/** Prints in the colours of paper, and gives plots the width that paper has. */
const PRINTING = `
addEventListener("beforeprint", resize);
addEventListener("afterprint", resize);
function resize() {
  document.querySelectorAll(".js-plotly-plot").forEach(function (plot) { Plotly.Plots.resize(plot); });
}`;

/** Builds a whole page. */
export async function machinePage(reports: readonly MachineReport[]): Promise<string> {
  const machines = named(reports);
  const title = machines.length === 1
    ? titleOf(machines[0]!.report)
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
  const [only] = machines;
  const main = machines.length === 1 && only !== undefined
    ? onePage(only.report)
    : severalPage(machines);
  return `<style>${STYLE}</style>
<main class="machine">
${main}
<div class="plots">
${plots.join("\n")}
</div>
</main>`;
}

function onePage(report: MachineReport): string {
  const noted = attention(report);
  const groups = Map.groupBy(report.rows, ({ group }) => group);
  return [
    heading(titleOf(report), report),
    ...(noted.length === 0 ? [] : ["<h2>Worth a look</h2>", rowTable(noted)]),
    ...[...groups].flatMap(([group, rows]) => [`<h2>${escapeHtml(group)}</h2>`, rowTable(rows)]),
    "<h2>Plots</h2>",
  ].join("\n");
}

function heading(title: string, report: MachineReport): string {
  const { vramkit, deno, seconds } = report;
  return `<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(summaryOf(report))}</p>
<p class="muted">vramkit ${escapeHtml(vramkit)}, Deno ${escapeHtml(deno)}, ${
    escapeHtml(formatSeconds(seconds))
  }. GB/s are 10^9 bytes a second, each byte counted once.</p>`;
}

function rowTable(rows: readonly MachineRow[]): string {
  const lines = rows.map((row) =>
    `<tr class="${row.verdict}"><td class="name">${escapeHtml(row.name)}</td>` +
    `<td class="n">${escapeHtml(valueText(row))}${spreadOf(row)}</td>` +
    `<td class="n">${escapeHtml(expectedText(row))}</td>` +
    `<td class="v">${VERDICTS[row.verdict].sign} ${VERDICTS[row.verdict].words}</td>` +
    `<td>${escapeHtml(row.words)}${originOf(row)}</td><td><code>${
      escapeHtml(row.check)
    }</code></td></tr>`
  );
  return `<div class="scroll"><table><thead><tr><th></th><th class="n">value</th>` +
    `<th class="n">should be</th><th>verdict</th><th>cause</th><th>checked by</th></tr></thead>` +
    `<tbody>${lines.join("\n")}</tbody></table></div>`;
}

function spreadOf({ least, most, value }: MachineRow): string {
  if (least === undefined || most === undefined || typeof value !== "number" || value === 0) {
    return "";
  }
  return ` <small>±${(50 * (most - least) / value).toFixed(1)} %</small>`;
}

function originOf({ expectedFrom, words }: MachineRow): string {
  if (expectedFrom === undefined) return "";
  return `${words === "" ? "" : " "}<small>should be: ${escapeHtml(expectedFrom)}</small>`;
}

function severalPage(machines: readonly NamedReport[]): string {
  const found = differences(machines.map(({ report }) => report));
  const header = machines.map(({ name }) => `<th class="n">${escapeHtml(name)}</th>`).join("");
  const table = (lines: readonly string[]) =>
    `<div class="scroll"><table><thead><tr><th></th>${header}<th></th></tr></thead><tbody>${
      lines.join("\n")
    }</tbody></table></div>`;
  const line = (rows: readonly (MachineRow | undefined)[], words: string) => {
    const [first] = rows.filter((row) => row !== undefined);
    const cells = rows.map((row) =>
      `<td class="n ${row?.verdict ?? ""}">${row === undefined ? "" : escapeHtml(valueText(row))}${
        row === undefined ? "" : spreadOf(row)
      } <span class="v">${row === undefined ? "" : VERDICTS[row.verdict].sign}</span></td>`
    );
    const name = first === undefined ? "" : `${first.group}: ${first.name}`;
    return `<tr><td class="name">${escapeHtml(name)}</td>${cells.join("")}<td>${
      escapeHtml(words)
    }</td></tr>`;
  };
  return [
    `<h1>${machines.length} machines, side by side</h1>`,
    ...machines.map(({ name, report }) =>
      `<p><b>${escapeHtml(name)}</b>: ${escapeHtml(summaryOf(report))}</p>`
    ),
    `<h2>Different beyond the spread of the samples</h2>`,
    found.different.length === 0
      ? "<p>Nothing.</p>"
      : table(found.different.map(({ rows, words }) => line(rows, words))),
    `<h2>Alike</h2>`,
    table(found.alike.map(({ rows }) => line(rows, ""))),
    "<h2>Plots</h2>",
  ].join("\n");
}
