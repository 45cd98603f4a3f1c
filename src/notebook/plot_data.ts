// What plotly.js is given: plain objects whose attributes its reference lists.
// Plots in this folder are written against plotly's own types; these are what people may then change.

/** One line, row of bars or the like. */
export interface Trace {
  /** Such as `"scatter"` or `"bar"`. */
  type?: string;
  /** What the legend calls it. */
  name?: string;
  /** Any other attribute of plotly.js's traces. */
  [attribute: string]: unknown;
}

/** What stands around the traces: axes, titles, legend, colours. */
export interface PlotLayout {
  /** In CSS pixels. */
  height?: number;
  /** In CSS pixels; the container's width unless set. */
  width?: number;
  /** How text looks where a part does not say otherwise. */
  font?: object;
  /** Any other attribute of plotly.js's layout. */
  [attribute: string]: unknown;
}

/** How a drawn plot behaves. */
export interface PlotConfig {
  /** Any attribute of plotly.js's configuration. */
  [attribute: string]: unknown;
}
