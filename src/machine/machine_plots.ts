// The plots of a machine's page: rows as shares of their expectations, arrays by size, and links.

import type { PlotData } from "npm:@types/plotly.js@3.0.14";
import { escapeHtml } from "../cards/html.ts";
import { BandwidthResult } from "../measure/bandwidth_result.ts";
import { LinkBandwidthResult } from "../measure/link_bandwidth_result.ts";
import { plotBandwidth } from "../notebook/bandwidth_plot.ts";
import { Figure } from "../notebook/figure.ts";
import { plotLinks } from "../notebook/links_plot.ts";
import { hueAt, plainAxis, plotFrame, rowAxis, RULE_COLOR } from "../notebook/plot_frame.ts";
import type { MachineReport, MachineRow } from "./machine_report.ts";
import { expectedText, valueText } from "./machine_text.ts";

const SYMBOLS = ["circle", "diamond", "square", "triangle-up", "x", "cross"] as const;
const ROW_HEIGHT = 19;

/** A report and its name on the page. */
export interface NamedReport {
  readonly name: string;
  readonly report: MachineReport;
}

/** Makes the plots that the reports have data for. */
export function machinePlots(machines: readonly NamedReport[]): Figure[] {
  const [only, ...others] = machines;
  const single = only !== undefined && others.length === 0 ? only.report : undefined;
  return [
    ...sharePlot(machines),
    ...sizePlot(machines),
    ...single === undefined ? [] : [...linkPlot(single)],
  ];
}

/** Rows that have numbers for a value and an expectation, as percent of it: more is better. */
function sharePlot(machines: readonly NamedReport[]): Figure[] {
  const parts = machines.map(({ name, report }) => ({
    name,
    rows: report.rows.flatMap((row) => {
      const share = shareOf(row);
      return share === undefined ? [] : [{ row, share }];
    }),
  })).filter(({ rows }) => rows.length > 0);
  if (parts.length === 0) return [];
  const isOfMany = machines.some(({ report }) => report.gpus.length > 1);
  const labelOf = ({ name, group }: MachineRow) =>
    isOfMany && group.startsWith("GPU") ? `${group}: ${name}` : name;
  const labels = [...new Set(parts.flatMap(({ rows }) => rows.map(({ row }) => labelOf(row))))];
  const data = parts.map(({ name, rows }, at): Partial<PlotData> => ({
    type: "scatter",
    mode: "markers",
    name: escapeHtml(name),
    x: rows.map(({ share }) => share),
    y: rows.map(({ row }) => labelOf(row)),
    text: rows.map(({ row }) =>
      escapeHtml(`${row.name}: ${valueText(row)}, expected ${expectedText(row)}`)
    ),
    hovertemplate: "%{text}<extra></extra>",
    marker: { size: 9, symbol: SYMBOLS[at % SYMBOLS.length] ?? "circle", color: hueAt(at) },
  }));
  const title = "Share of the expectation";
  return [
    new Figure({
      data,
      layout: {
        ...plotFrame({
          title,
          subtitle: "100 % is what this GPU, bus or host should reach",
          plotHeight: ROW_HEIGHT * labels.length,
          left: 16,
          ...(parts.length > 1 ? { legendNames: parts.map(({ name }) => name) } : {}),
        }),
        xaxis: plainAxis("% of the expectation", { rangemode: "tozero" }),
        yaxis: { ...rowAxis(labels), gridcolor: "rgba(128,128,128,0.15)" },
        shapes: [{
          type: "line",
          xref: "x",
          yref: "paper",
          x0: 100,
          x1: 100,
          y0: 0,
          y1: 1,
          line: { color: RULE_COLOR, width: 1, dash: "dot" },
        }],
      },
      description: [
        `${title}.`,
        ...parts.flatMap(({ name, rows }) =>
          rows.map(({ row, share }) => `${name}, ${labelOf(row)}: ${share.toFixed(0)} %.`)
        ),
      ].join("\n"),
    }),
  ];
}

/** Rules of thumb are too rough to be drawn. */
function shareOf(row: MachineRow): number | undefined {
  const { value, expected, better, isModelled, unit, expectedFrom = "" } = row;
  if (isModelled === true || typeof value !== "number" || typeof expected !== "number") {
    return undefined;
  }
  if (better === undefined || unit !== "GB/s" || /rule of thumb/.test(expectedFrom)) {
    return undefined;
  }
  return 100 * value / expected;
}

function sizePlot(machines: readonly NamedReport[]): Figure[] {
  const results = machines.flatMap(({ report }) =>
    report.bandwidth.filter(({ points }) => points.length > 0).map((data) =>
      new BandwidthResult({ ...data })
    )
  );
  return results.length === 0 ? [] : [plotBandwidth(results)];
}

function linkPlot({ links }: MachineReport): Figure[] {
  return links === null || links.cases.length === 0
    ? []
    : [plotLinks(new LinkBandwidthResult({ ...links }))];
}
