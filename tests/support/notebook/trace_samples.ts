// A small figure of every trace type of plotly.js, as its gallery has them.

import type { PlotLayout, Trace } from "../../../src/notebook/plot_data.ts";

const x = [1, 2, 3, 4];
const y = [3, 1, 4, 2];
const z = [[1, 2, 3], [4, 6, 5], [9, 7, 8]];
const values = [1, 2, 2, 3, 3, 3, 4, 4, 5, 9];
const [open, high, low, close] = [[2, 3, 4, 3], [4, 5, 6, 4], [1, 2, 3, 1], [3, 4, 3, 2]];
const tree = { labels: ["all", "a", "b"], parents: ["", "all", "all"], values: [0, 3, 5] };
const space = { x, y, z: [1, 2, 3, 1] };
/** The corners of a grid of 3 points a side. */
const grid = Array.from(
  { length: 27 },
  (_, at) => [at % 3, Math.floor(at / 3) % 3, Math.floor(at / 9)],
);
const axis = (at: number) => grid.map((point) => point[at] ?? 0);
const field = { x: axis(0), y: axis(1), z: axis(2) };
const isSurface = { ...field, value: axis(0), isomin: 0.5, isomax: 1.5 };
const arrows = { u: axis(1), v: axis(2), w: axis(0) };
const mesh = {
  a: [4, 4, 4, 5, 5, 5, 6, 6, 6],
  b: [1, 2, 3, 1, 2, 3, 1, 2, 3],
  x: [2, 3, 4, 2.2, 3.1, 4.1, 1.5, 2.5, 3.5],
  y: [1, 1.4, 1.6, 1.5, 2, 2.4, 2, 2.5, 3],
};

/** One trace of each type; a carpet's own traces need one to lie on. */
export const TRACE_SAMPLES: Readonly<Record<string, readonly object[]>> = {
  scatter: [{ x, y }],
  bar: [{ x, y }],
  box: [{ y: values }],
  heatmap: [{ z }],
  histogram: [{ x: values }],
  histogram2d: [{ x: values, y: values }],
  histogram2dcontour: [{ x: values, y: values }],
  contour: [{ z }],
  scatterternary: [{ a: x, b: y, c: x, mode: "markers" }],
  violin: [{ y: values }],
  image: [{ z: [[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 0]]] }],
  pie: [{ labels: ["a", "b"], values: [1, 2] }],
  quiver: [{ x, y, u: x, v: y }],
  funnel: [{ x: [9, 5, 2], y: ["a", "b", "c"] }],
  waterfall: [{ x: ["a", "b", "c"], y: [3, -1, 2] }],
  sunburst: [tree],
  treemap: [tree],
  icicle: [tree],
  funnelarea: [{ labels: ["a", "b"], values: [3, 1] }],
  scatterpolar: [{ r: x, theta: [0, 90, 180, 270] }],
  barpolar: [{ r: x, theta: [0, 90, 180, 270] }],
  scattersmith: [{ real: [0.5, 1, 2], imag: [0.5, 1, 2] }],
  sankey: [{
    node: { label: ["a", "b", "c"] },
    link: { source: [0, 0], target: [1, 2], value: [1, 2] },
  }],
  indicator: [{ mode: "gauge+number", value: 70 }],
  table: [{ header: { values: ["a", "b"] }, cells: { values: [[1, 2], [3, 4]] } }],
  carpet: [mesh],
  scattercarpet: [{ type: "carpet", carpet: "c", ...mesh }, {
    carpet: "c",
    a: [4.5, 5.5],
    b: [1.5, 2.5],
  }],
  contourcarpet: [{ type: "carpet", carpet: "c", ...mesh }, {
    carpet: "c",
    a: mesh.a,
    b: mesh.b,
    z: x,
  }],
  ohlc: [{ x, open, high, low, close }],
  candlestick: [{ x, open, high, low, close }],
  parcats: [{
    dimensions: [{ label: "a", values: ["p", "q", "p"] }, { label: "b", values: ["r", "r", "s"] }],
  }],
  scatter3d: [{ ...space, mode: "markers" }],
  surface: [{ z }],
  mesh3d: [{ x: [0, 1, 0, 0], y: [0, 0, 1, 0], z: [0, 0, 0, 1], alphahull: 0 }],
  isosurface: [isSurface],
  volume: [isSurface],
  cone: [{ ...field, ...arrows }],
  streamtube: [{ ...field, ...arrows }],
  scattergl: [{ x, y, mode: "markers" }],
  splom: [{ dimensions: [{ label: "a", values: x }, { label: "b", values: y }] }],
  parcoords: [{ dimensions: [{ label: "a", values: x }, { label: "b", values: y }] }],
  scatterpolargl: [{ r: x, theta: [0, 90, 180, 270] }],
  scattergeo: [{ lon: x, lat: y }],
  choropleth: [{ locations: ["FRA", "DEU"], z: [1, 2] }],
  scattermap: [{ lon: x, lat: y }],
  choroplethmap: [{ locations: ["FRA", "DEU"], z: [1, 2] }],
  densitymap: [{ lon: x, lat: y, z: x }],
};

/** The figure of a sample. */
export function sampleFigure(type: string): { data: Trace[]; layout: PlotLayout } {
  const data = (TRACE_SAMPLES[type] ?? []).map((trace) => ({ type, ...trace } as Trace));
  return { data, layout: { title: { text: type } } };
}
