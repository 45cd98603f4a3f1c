// plotBandwidth(): speed over copy size, with the bus's theoretical speed and the fitted latency.
// This file combines lines, panels, traces, layout and words from the files beside it.

import type { PlotData } from "npm:@types/plotly.js@3.0.14";
import type { BandwidthResult } from "../measure/bandwidth_result.ts";
import { bandwidthLayout } from "./bandwidth_layout.ts";
import { bandwidthPanels, type Panel } from "./bandwidth_lines.ts";
import { halfSpeedTrace, lineTrace } from "./bandwidth_traces.ts";
import { describeBandwidth, resultNames } from "./bandwidth_words.ts";
import { Figure } from "./figure.ts";
import { BANDWIDTH, checkPlotInput } from "./plot_input.ts";

/**
 * Plots a bandwidth result, or several in one plot, with different dashes.
 *
 * @throws RangeError when a result holds no points.
 * @throws TypeError when it is not a result, for example a promise of one.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { plotBandwidth } from "vramkit/notebook";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * const sweep = await gpu.bandwidth({ sizes: ["64 KiB", "1 MiB"] });
 * console.log(plotBandwidth(sweep)); // as a cell's last expression it draws itself
 * ```
 */
export function plotBandwidth(measured: BandwidthResult | readonly BandwidthResult[]): Figure {
  const results = [measured].flat();
  for (const result of results.length === 0 ? [undefined] : results) {
    checkPlotInput(result, { action: "plot bandwidth", ...BANDWIDTH });
  }
  if (results.some((result) => result.points.length === 0)) {
    throw new RangeError(
      "Cannot plot bandwidth: a result holds no points, measure at least one size",
    );
  }
  const panels = bandwidthPanels(results);
  const names = resultNames(results);
  const lines = panels.flatMap((panel) => panelLines(panel, names));
  const rings = panels.flatMap((panel) => halfSpeedTrace(panel.runs.flat(), panel.yaxis));
  return new Figure({
    data: [
      ...lines,
      // Rings mean the same in both panels, and are shown or hidden together.
      ...rings.map((trace, at) => ({ ...trace, legendgroup: "rings", showlegend: at === 0 })),
    ],
    layout: bandwidthLayout(results, {
      panels,
      names: [...lines, ...rings.slice(0, 1)].map(({ name = "" }) => name),
    }),
    description: describeBandwidth(results),
  });
}

function panelLines(panel: Panel, runNames: readonly string[]): Partial<PlotData>[] {
  return panel.runs.flatMap((lines, run) =>
    lines.map((line) => lineTrace(line, { yaxis: panel.yaxis, run, runName: runNames[run] ?? "" }))
  );
}
