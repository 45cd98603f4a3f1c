// The types of traces: which bundle of plotly.js draws them, and what a picture without a browser lacks.

import { nearestOf } from "../words/options.ts";
import type { Trace } from "./plot_data.ts";

/** A bundle of plotly.js: 1.5 MB with what most plots are, or all types in 4.8 MB. */
export type PlotlyBundle = "cartesian" | "full";

/** Traces that the smaller bundle draws. */
const CARTESIAN = [
  ...["scatter", "bar", "box", "heatmap", "histogram", "histogram2d", "histogram2dcontour"],
  ...["contour", "scatterternary", "violin", "image", "pie"],
];

/** Traces that need WebGL, which only a browser has. */
const WEBGL = [
  ...["scatter3d", "surface", "mesh3d", "isosurface", "volume", "cone", "streamtube"],
  ...["scattergl", "scatterpolargl", "splom", "parcoords"],
];

/** Further traces that only the full bundle draws. */
const OTHERS = [
  ...["funnel", "waterfall", "sunburst", "treemap", "icicle", "funnelarea", "sankey", "indicator"],
  ...["table", "carpet", "scattercarpet", "contourcarpet", "ohlc", "candlestick", "scatterpolar"],
  ...["barpolar", "scattersmith", "parcats", "quiver"],
];

/** Traces that ask a server for maps, which a figure never does. */
const MAPS = ["scattergeo", "choropleth", "scattermap", "choroplethmap", "densitymap"];

/** The types that a figure may have. */
export const TRACE_TYPES: readonly string[] = [...CARTESIAN, ...OTHERS, ...WEBGL];

/** A type that only the bundle has, by which a page tells whether it is there. */
export const TYPE_OF_BUNDLE: Readonly<Record<PlotlyBundle, string>> = {
  cartesian: "violin",
  full: "treemap",
};

/** Returns the smallest bundle that draws these traces. */
export function bundleFor(data: readonly Trace[]): PlotlyBundle {
  return data.every((trace) => CARTESIAN.includes(typeOf(trace))) ? "cartesian" : "full";
}

/** Returns the types of these traces that need WebGL. */
export function webglTypes(data: readonly Trace[]): string[] {
  return [...new Set(data.map(typeOf))].filter((type) => WEBGL.includes(type));
}

/**
 * Rejects types that plotly.js does not have, and those that would fetch maps.
 *
 * @throws TypeError that names the trace and, where one is near, the type that was meant.
 */
export function requireTraceTypes(data: readonly Trace[]): void {
  for (const [index, trace] of data.entries()) {
    const type = typeOf(trace);
    if (TRACE_TYPES.includes(type)) continue;
    const near = nearestOf([...TRACE_TYPES, ...MAPS], type);
    const reason = MAPS.includes(type)
      ? "it asks a server for maps, and figures ask nobody"
      : `plotly.js has no such type${near === undefined ? "" : ` (did you mean ${near}?)`}`;
    throw new TypeError(`Cannot draw data[${index}] of type ${JSON.stringify(type)}: ${reason}`);
  }
}

function typeOf({ type = "scatter" }: Trace): string {
  return String(type);
}
