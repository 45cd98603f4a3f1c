// The plots of a machine's page: rows as shares of their expectations, arrays by size, clocks under load,
// and links.

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
    ...single === undefined ? [] : [...loadPlot(single), ...linkPlot(single)],
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
  const title = "Measured, in percent of the expectation";
  return [
    new Figure({
      data,
      layout: {
        ...plotFrame({
          title,
          subtitle:
            "100 % is what this GPU, bus or host should reach; times are turned over, so more is better",
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

function shareOf({ value, expected, better, isModelled, unit }: MachineRow): number | undefined {
  if (isModelled === true || typeof value !== "number" || typeof expected !== "number") {
    return undefined;
  }
  if (better === undefined || !/GB|µs/.test(unit) || value <= 0) return undefined;
  return 100 * (better === "more" ? value / expected : expected / value);
}

function labelOf({ name, group }: MachineRow): string {
  return /^GPU \d/.test(group) ? `${group}: ${name}` : name;
}

function sizePlot(machines: readonly NamedReport[]): Figure[] {
  const results = machines.flatMap(({ report }) =>
    report.bandwidth.filter(({ points }) => points.length > 0).map((data) =>
      new BandwidthResult({ ...data })
    )
  );
  return results.length === 0 ? [] : [plotBandwidth(results)];
}

function loadPlot({ load, gpus, isModelled }: MachineReport): Figure[] {
  if (load.length === 0) return [];
  const lines = gpus.flatMap(({ ordinal }): Partial<PlotData>[] => {
    const samples = load.filter(({ gpu }) => gpu === ordinal);
    const line = (name: string, hue: number, more: Partial<PlotData>): Partial<PlotData> => ({
      type: "scatter",
      mode: "lines+markers",
      name: gpus.length > 1 ? `GPU ${ordinal}, ${name}` : name,
      x: samples.map(({ atSeconds }) => atSeconds),
      line: { color: hueAt(hue), width: 1.5 },
      marker: { size: 4, symbol: SYMBOLS[ordinal % SYMBOLS.length] ?? "circle" },
      ...more,
    });
    return [
      line("multiprocessors, MHz", 0, { y: samples.map((each) => each.smClockMegahertz) }),
      line("memory, MHz", 2, { y: samples.map((each) => each.memoryClockMegahertz) }),
      line("power, W", 1, { y: samples.map((each) => each.powerWatts), yaxis: "y2" }),
    ];
  });
  const title = "Clocks and power while it was measured";
  const names = lines.map(({ name = "" }) => name);
  return [
    new Figure({
      data: lines,
      layout: {
        ...plotFrame({
          title,
          subtitle: isModelled ? "Simulated: no hardware was measured" : "at each look, by NVML",
          plotHeight: 190,
          legendNames: names,
        }),
        xaxis: plainAxis("seconds from the beginning", {}),
        yaxis: plainAxis("MHz", { rangemode: "tozero" }),
        yaxis2: plainAxis("W", {
          rangemode: "tozero",
          overlaying: "y",
          side: "right",
          showgrid: false,
        }),
        margin: { l: 56, r: 56, t: 64, b: 100 },
      },
      description: `${title}: ${load.length} looks.`,
    }),
  ];
}

function linkPlot({ links }: MachineReport): Figure[] {
  return links === null || links.cases.length === 0
    ? []
    : [plotLinks(new LinkBandwidthResult({ ...links }))];
}
