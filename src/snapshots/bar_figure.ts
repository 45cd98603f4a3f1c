// Horizontal bars of bytes, with words on hover: the map, fragmentation and comparison are such plots.

import type { LayoutAxis, PlotData } from "npm:@types/plotly.js@3.0.14";
import { escapeHtml } from "../cards/html.ts";
import { byteUnit } from "../notebook/axis_units.ts";
import { Figure } from "../notebook/figure.ts";
import { GRID_COLOR, hueAt, patternAt, plainAxis, plotFrame } from "../notebook/plot_frame.ts";

/** One bar: a row, where it begins, and its bytes. */
export interface ByteBar {
  readonly row: number;
  readonly start?: number;
  readonly byteLength: number;
  /** Lines on hover, as plain text. */
  readonly words: readonly string[];
}

/** A plot of bars. */
export interface BarPlot {
  readonly title: string;
  readonly subtitle: string;
  readonly mode: "overlay" | "stack" | "group";
  readonly rowHeight: number;
  /** The name of each row; a number tells how many there are without names. */
  readonly rows: readonly string[] | number;
  /** The bars by the name of their kind; empty ones are drawn as outlines. */
  readonly kinds: ReadonlyMap<
    string,
    { readonly isEmpty: boolean; readonly bars: readonly ByteBar[] }
  >;
  /** The contents in words, a line for each row or kind. */
  readonly words: readonly string[];
}

/** Draws bars, the first row on top. */
export function barFigure(
  { title, subtitle, mode, rowHeight, rows, kinds, words }: BarPlot,
): Figure {
  const all = [...kinds.values()].flatMap(({ bars }) => bars);
  const ends = mode === "stack"
    ? totalsOf(all)
    : all.map((bar) => (bar.start ?? 0) + bar.byteLength);
  const unit = byteUnit(ends.reduce((a, b) => Math.max(a, b), 1));
  const rowCount = Math.max(2, typeof rows === "number" ? rows : rows.length);
  const names: Partial<LayoutAxis> = typeof rows === "number" ? { visible: false } : {
    tickvals: rows.map((_, row) => row),
    ticktext: rows.map((name) => name.split("\n").map(escapeHtml).join("<br>")),
    ticksuffix: "  ",
    automargin: true,
  };
  const drawn = [...kinds].filter(([, { bars }]) => bars.some((bar) => bar.byteLength > 0));
  const data = drawn.map(([name, { isEmpty, bars }], index) => ({
    type: "bar",
    orientation: "h",
    name: escapeHtml(name),
    y: bars.map(({ row }) => row),
    ...mode === "overlay" && { base: bars.map(({ start = 0 }) => start / unit.size) },
    x: bars.map(({ byteLength }) => byteLength / unit.size),
    marker: {
      color: isEmpty ? "rgba(0,0,0,0)" : `${hueAt(index)}99`,
      line: { color: isEmpty ? GRID_COLOR : hueAt(index), width: isEmpty ? 1.5 : 0.75 },
      pattern: { shape: isEmpty ? "" : patternAt(index), size: 6, solidity: 0.2 },
    },
    text: bars.map((bar) => bar.words.map(escapeHtml).join("<br>")),
    textposition: "none",
    hovertemplate: "%{text}<extra></extra>",
  } as unknown as Partial<PlotData>)); // the types know base as a number alone
  return new Figure({
    data,
    layout: {
      ...plotFrame({
        title,
        subtitle,
        plotHeight: rowCount * rowHeight,
        left: 16,
        legendNames: drawn.map(([name]) => name),
      }),
      barmode: mode,
      bargap: 0.25,
      xaxis: plainAxis(unit.name, { rangemode: "tozero" }),
      yaxis: { ...names, range: [rowCount - 0.5, -0.5], fixedrange: true, showgrid: false },
    },
    description: [`${title}: ${subtitle}.`, ...words].join("\n"),
  });
}

function totalsOf(bars: readonly ByteBar[]): number[] {
  const totals: number[] = [];
  for (const { row, byteLength } of bars) totals[row] = (totals[row] ?? 0) + byteLength;
  return totals;
}
