// Horizontal bars of bytes, with words on hover: the map, fragmentation and comparison are such plots.

import type { LayoutAxis, PlotData } from "npm:@types/plotly.js@3.0.14";
import { escapeHtml } from "../cards/html.ts";
import { byteUnit } from "../notebook/axes.ts";
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
  /** The bars of a row lie where they begin, or below each other. */
  readonly mode: "overlay" | "group";
  readonly rowHeight: number;
  /** The name of each row; a number tells how many there are without names. */
  readonly rows: readonly string[] | number;
  /** The bars by the name of their kind. */
  readonly kinds: ReadonlyMap<string, readonly ByteBar[]>;
  /** The kind that is drawn as outlines. */
  readonly emptyKind?: string;
  /** The contents in words, a line for each row or kind. */
  readonly words: readonly string[];
}

/** Draws bars, the first row on top. */
export function barFigure(plot: BarPlot): Figure {
  const { title, subtitle, mode, rowHeight, rows, kinds, emptyKind, words } = plot;
  const ends = [...kinds.values()].flat().map(({ start = 0, byteLength }) => start + byteLength);
  const unit = byteUnit(ends.reduce((a, b) => Math.max(a, b), 1));
  const rowCount = Math.max(2, typeof rows === "number" ? rows : rows.length);
  const names: Partial<LayoutAxis> = typeof rows === "number" ? { visible: false } : {
    tickvals: rows.map((_, row) => row),
    ticktext: rows.map((name) => name.split("\n").map(escapeHtml).join("<br>")),
    ticksuffix: "  ",
    automargin: true,
  };
  const drawn = [...kinds].filter(([, bars]) => bars.some(({ byteLength }) => byteLength > 0));
  const data = drawn.map(([name, bars], index) => ({
    type: "bar",
    orientation: "h",
    name: escapeHtml(name),
    y: bars.map(({ row }) => row),
    ...mode === "overlay" && { base: bars.map(({ start = 0 }) => start / unit.size) },
    x: bars.map(({ byteLength }) => byteLength / unit.size),
    marker: name === emptyKind
      ? { color: "rgba(0,0,0,0)", line: { color: GRID_COLOR, width: 1.5 } }
      : {
        color: `${hueAt(index)}99`,
        line: { color: hueAt(index), width: 0.75 },
        pattern: { shape: patternAt(index), size: 6, solidity: 0.2 },
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
