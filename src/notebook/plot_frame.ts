// The common frame of all plots: a title with a few words below it, grid and margins. Heights are in pixels
// and grow with the contents, never with the screen.

import type { Annotations, Layout, LayoutAxis, Legend } from "npm:@types/plotly.js@3.0.14";
import { escapeHtml } from "../cards/html.ts";

/** Grey that is faint on white and on black alike. */
export const GRID_COLOR = "rgba(128,128,128,0.22)";
/** Grey for lines that carry a meaning. */
export const RULE_COLOR = "rgba(128,128,128,0.9)";

/** Hues that stay apart under each common colour blindness, on white and on black. */
const HUES = ["#2f81c7", "#d55e00", "#009e73", "#b07cc6", "#c98a1b", "#7f8790"] as const;

/** Fill patterns that stay apart without colour, in the order of the hues. */
const PATTERNS = ["", "/", "x", ".", "\\", "-"] as const;

/** Aligns words at their left edge; by default plotly centres them, and adds a border. */
export const LEFT_ALIGNED = {
  showarrow: false,
  xanchor: "left",
  align: "left",
  borderpad: 0,
  borderwidth: 0,
} as const satisfies Partial<Annotations>;

/** The style of text above a place on the left edge of the plot. */
export const ABOVE_LEFT = {
  ...LEFT_ALIGNED,
  xref: "paper",
  x: 0,
  yref: "paper",
  yanchor: "bottom",
} as const satisfies Partial<Annotations>;

/** Returns the hue for the `index`-th of several things. */
export function hueAt(index: number): string {
  return HUES[index % HUES.length] ?? RULE_COLOR;
}

/** Returns the fill pattern for the `index`-th of several things. */
export function patternAt(index: number): "" | "/" | "x" | "." | "\\" | "-" {
  return PATTERNS[index % PATTERNS.length] ?? "";
}

/** Returns the look of the `index`-th of areas on each other. */
export function areaLook(index: number): object {
  const color = hueAt(index);
  // Another round of hues has other patterns.
  const shape = patternAt(index + Math.floor(index / HUES.length));
  return {
    line: { shape: "hv", width: 1.5, color },
    fillcolor: `${color}66`,
    fillpattern: { shape, fgcolor: `${color}99`, size: 8, solidity: 0.25 },
  };
}

export interface FrameContents {
  /** In bold, on the first line. */
  readonly title: string;
  /** Below it, in lines. */
  readonly subtitle: string;
  /** Height of the area that data is drawn in, in pixels. */
  readonly plotHeight: number;
  /** Room on the left, for the labels of the axis, in pixels. */
  readonly left?: number;
  /** Room between the subtitle and the plot, for words above it, in pixels. */
  readonly above?: number;
  /** Room below the plot for its axis, in pixels. */
  readonly axisHeight?: number;
  /** The names in the legend below; there is none without them. */
  readonly legendNames?: readonly string[];
  /** Words within the plot. */
  readonly annotations?: readonly Partial<Annotations>[];
}

const TOP = 64;
const SUBTITLE_LINE_HEIGHT = 15;
const AXIS_HEIGHT = 52;
/** Room above a legend. */
const LEGEND_GAP = 5;
/** Width of a plot on a narrow page, and of a letter and of the mark beside a name in its legend. */
const LEGEND_SPACE = { width: 640, glyph: 7, mark: 50 } as const;
const LEGEND_LINE_HEIGHT = 19;

/** Returns the room that a legend of these names needs, in lines that may wrap. */
function legendHeight(names: readonly string[]): number {
  const { width, glyph, mark } = LEGEND_SPACE;
  const widest = Math.max(0, ...names.map(({ length }) => mark + glyph * length));
  const columnCount = Math.max(1, Math.floor(width / widest)); // plotly aligns names in columns
  return LEGEND_LINE_HEIGHT * Math.ceil(names.length / columnCount);
}

/** A legend below the plot, at the bottom of the picture. */
export const LEGEND: Partial<Legend> = {
  orientation: "h",
  traceorder: "normal",
  x: 0,
  xref: "paper",
  xanchor: "left",
  y: 0,
  yref: "container",
  yanchor: "bottom",
};

/** A title in bold at the top left of the picture. */
function plotTitle(title: string): Layout["title"] {
  return {
    text: `<b>${escapeHtml(title)}</b>`,
    font: { size: 16 },
    x: 0,
    xref: "paper",
    xanchor: "left",
    y: 1,
    yref: "container",
    yanchor: "top",
    pad: { t: 12 },
  };
}

/** Lays out title, subtitle, margins and legend. */
export function plotFrame(contents: FrameContents): Partial<Layout> {
  const { title, subtitle, plotHeight, left = 56, legendNames, annotations = [] } = contents;
  const { above = 0, axisHeight = AXIS_HEIGHT } = contents;
  const top = TOP + above + SUBTITLE_LINE_HEIGHT * (subtitle.split("\n").length - 1);
  const hasLegend = legendNames !== undefined;
  const bottom = axisHeight + (hasLegend ? LEGEND_GAP + legendHeight(legendNames) : 0);
  return {
    title: plotTitle(title),
    height: top + plotHeight + bottom,
    margin: { l: left, r: 16, t: top, b: bottom },
    annotations: [subtitleNote(subtitle, above), ...annotations],
    hovermode: "closest",
    showlegend: hasLegend,
    legend: LEGEND,
  };
}

/** An annotation: plotly's own subtitle collides with a title at times. */
function subtitleNote(subtitle: string, above: number): Partial<Annotations> {
  return {
    ...ABOVE_LEFT,
    text: escapeHtml(subtitle).replaceAll("\n", "<br>"),
    font: { size: 11 },
    y: 1,
    yshift: 11 + above,
  };
}

/** Lays out an axis with its title and a faint grid. */
export function plainAxis(title: string, more: Partial<LayoutAxis>): Partial<LayoutAxis> {
  return {
    title: { text: title, standoff: 8, font: { size: 12 } },
    gridcolor: GRID_COLOR,
    zerolinecolor: RULE_COLOR,
    zerolinewidth: 1,
    ...more,
  };
}

/** Lays out rows by their names, the first on top. */
export function rowAxis(names: readonly string[]): Partial<LayoutAxis> {
  return {
    type: "category",
    categoryorder: "array",
    categoryarray: names.toReversed(),
    automargin: true,
    ticksuffix: "  ",
  };
}
