// What notebooks add to the kit: plotly figures that draw themselves, and the plots made of them.
// Nothing is loaded at import; plotly.js comes with the first figure that is shown.

export { Figure, type FigureOptions } from "./figure.ts";
export type { PlotConfig, PlotLayout, Trace } from "./plot_data.ts";
export type { PictureSize } from "./static_svg.ts";
export { plotBandwidth } from "./bandwidth_plot.ts";
export { PlotlyRuntime } from "./plotly.ts";
export type {
  BandwidthFit,
  BandwidthPoint,
  BandwidthResult,
  CopyDirection,
  HostKind,
  Provenance,
} from "../measure/bandwidth_result.ts";
