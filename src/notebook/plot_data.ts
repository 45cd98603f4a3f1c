// The input of plotly.js: plain objects with the attributes of its reference. Plots in this folder
// use plotly's own types; these are the types for programs that change a figure.

/** One line, row of bars or the like. */
export interface Trace {
  /** Type of the trace, such as `"scatter"` or `"bar"`. */
  type?: string;
  /** Name in the legend. */
  name?: string;
  /** Any other attribute of plotly.js's traces. */
  [attribute: string]: unknown;
}

/** Everything around the traces: axes, titles, legend, colours. */
export interface PlotLayout {
  /** Height in CSS pixels. */
  height?: number;
  /** Width in CSS pixels; that of the container by default. */
  width?: number;
  /** Default look of texts. */
  font?: object;
  /** Any other attribute of plotly.js's layout. */
  [attribute: string]: unknown;
}

/** Behaviour of a drawn plot. */
export interface PlotConfig {
  /** Any attribute of plotly.js's configuration. */
  [attribute: string]: unknown;
}
