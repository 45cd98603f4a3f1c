// The layout of a bandwidth plot: titles, axes, the bus's theoretical speed and the fitted latency.

import type { Annotations, Layout, LayoutAxis, Shape } from "npm:@types/plotly.js@3.0.14";
import { escapeHtml } from "../cards/html.ts";
import type { BandwidthResult } from "../measure/bandwidth_result.ts";
import { formatBytes, formatSeconds, formatSpeed } from "../words/format.ts";
import { type FittedLine, hasHalfSpeedPoint, highestSpeed, type Panel } from "./bandwidth_lines.ts";
import { bandwidthTitle, headingOf, resultNames } from "./bandwidth_words.ts";
import { ABOVE_LEFT, GRID_COLOR, plainAxis, plotFrame, RULE_COLOR } from "./plot_frame.ts";
import { sizeAxis } from "./axes.ts";

const PLOT_HEIGHT = 430;
const PANEL_TITLE_HEIGHT = 22;

/** Room above the highest point, as a factor. */
const HEADROOM = 1.12;

/** Lays out the panels of all results; `names` are those in the legend. */
export function bandwidthLayout(
  results: readonly BandwidthResult[],
  { panels, names }: { readonly panels: readonly Panel[]; readonly names: readonly string[] },
): Partial<Layout> {
  const ownNames = resultNames(results);
  const sizes = results.flatMap((result) => result.points.map((point) => point.byteLength));
  return {
    ...plotFrame({
      title: bandwidthTitle(results),
      subtitle: results.map((result, at) => headingOf(result, ownNames[at])).join("\n"),
      plotHeight: PLOT_HEIGHT,
      left: 48,
      above: PANEL_TITLE_HEIGHT,
      legendNames: names,
      annotations: [
        // Above the axis, because text along it would have to be read sideways.
        ...panels.map(({ title, domain: [, y] }) => ({ ...ABOVE_LEFT, text: title, y })),
        ...panels.flatMap(halfSpeedNote),
      ],
    }),
    xaxis: plainAxis("bytes in one copy", {
      ...sizeAxis(sizes),
      anchor: panels.at(-1)?.yaxis ?? "y",
      zeroline: false,
      ticks: "outside",
      ticklen: 5,
      tickcolor: GRID_COLOR,
    }),
    ...speedAxes(panels),
    shapes: panels.flatMap(roofShapes),
  };
}

function speedAxes(panels: readonly Panel[]): Partial<Layout> {
  const axes = panels.map((panel, index): Partial<LayoutAxis> => ({
    domain: [...panel.domain],
    range: [0, HEADROOM * highestSpeed(panel)],
    nticks: index === 0 ? 8 : 5,
    gridcolor: GRID_COLOR,
    zerolinecolor: RULE_COLOR,
    zerolinewidth: 1,
  }));
  const [yaxis, yaxis2] = axes;
  return { ...(yaxis && { yaxis }), ...(yaxis2 && { yaxis2 }) };
}

function roofShapes(panel: Panel): Partial<Shape>[] {
  return [...panel.roofs].map(([speed, label]) => ({
    type: "line",
    xref: "x domain" as "x", // the types lack the axis-relative form
    yref: panel.yaxis,
    x0: 0,
    x1: 1,
    y0: speed,
    y1: speed,
    line: { color: RULE_COLOR, width: 1.5, dash: "dot" },
    label: { text: escapeHtml(label), textposition: "start", yanchor: "bottom", padding: 5 },
  }));
}

/** A ring can be labelled if its fit has at least this share of the fastest one's speed. */
const NEARLY_FASTEST = 0.8;

/** Labels one ring in each panel: of the fast fits the leftmost, which no line crosses. */
function halfSpeedNote(panel: Panel): Partial<Annotations>[] {
  const fitted: FittedLine[] = panel.runs.flat().filter(hasHalfSpeedPoint);
  const fastest = Math.max(...fitted.map(({ fit }) => fit.gigabytesPerSecond));
  const [spelt] = fitted.map(({ fit }) => fit)
    .filter(({ gigabytesPerSecond }) => gigabytesPerSecond >= NEARLY_FASTEST * fastest)
    .sort((a, b) => a.halfBandwidthBytes - b.halfBandwidthBytes);
  if (spelt === undefined) return [];
  const { gigabytesPerSecond, latencySeconds, halfBandwidthBytes } = spelt;
  return [{
    text: `half speed at ${formatBytes(Math.round(halfBandwidthBytes))} =<br>` +
      `${formatSeconds(latencySeconds)} latency × ${formatSpeed(gigabytesPerSecond)}`,
    x: Math.log10(halfBandwidthBytes), // on a log axis plotly wants the exponent here
    y: gigabytesPerSecond / 2,
    yref: panel.yaxis,
    showarrow: false,
    xanchor: "right",
    yanchor: "bottom",
    align: "right",
    xshift: -12,
  }];
}
