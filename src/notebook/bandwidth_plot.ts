// plotBandwidth(): speed over copy size, with the bus's theoretical speed and the fitted latency.
// Copies within a device are tens of times faster than the bus, so they have a panel of their own.

import type { Annotations, LayoutAxis, Shape } from "npm:@types/plotly.js@3.0.14";
import type { BandwidthResult } from "../measure/bandwidth_result.ts";
import { formatBytes } from "../format.ts";
import {
  type BandwidthLine,
  bandwidthLines,
  type FittedLine,
  hasHalfSpeedPoint,
} from "./bandwidth_lines.ts";
import { halfSpeedTrace, lineTrace } from "./bandwidth_traces.ts";
import {
  bandwidthTitle,
  describeBandwidth,
  provenanceWords,
  resultNames,
} from "./bandwidth_words.ts";
import { Figure } from "./figure.ts";
import { escapeHtml, type PlotLayout, type Trace } from "./figure_html.ts";
import { sizeAxis } from "./size_axis.ts";

/** Grey that is faint on white and on black alike. */
const GRID_COLOR = "rgba(128,128,128,0.22)";
const RULE_COLOR = "rgba(128,128,128,0.9)";

const PLOT_HEIGHT = 430;
const LEGEND_LINE_HEIGHT = 19;
const TITLE_LINE_HEIGHT = 14;

/** Room above the highest point, as a factor. */
const HEADROOM = 1.12;

interface Panel {
  readonly title: string;
  /** Bottom and top, as shares of the plot's height. */
  readonly domain: readonly [number, number];
  /** Lines of the first result, then of the second. */
  readonly runs: readonly (readonly BandwidthLine[])[];
  /** Theoretical speeds to draw as a rule, each with its label. */
  readonly roofs: ReadonlyMap<number, string>;
}

/**
 * Plots one bandwidth result, or lays a second one over it dashed.
 *
 * @throws RangeError when a result holds no points.
 *
 * @example
 * ```ts ignore
 * plotBandwidth(await gpu.bandwidth()) // as a cell's last expression it draws itself
 * ```
 */
export function plotBandwidth(
  measured: BandwidthResult | readonly [BandwidthResult, BandwidthResult],
): Figure {
  const results = "points" in measured ? [measured] : measured;
  if (results.some((result) => result.points.length === 0)) {
    throw new RangeError(
      "Cannot plot bandwidth: a result holds no points, measure at least one size",
    );
  }
  const panels = panelsOf(results);
  const data = panels.flatMap((panel, index) => panelTraces(panel, index, resultNames(results)));
  return new Figure({
    data: withOneRingInLegend(data),
    layout: bandwidthLayout(results, panels, data.length),
    description: describeBandwidth(results),
  });
}

function panelsOf(results: readonly BandwidthResult[]): Panel[] {
  const runs = results.map(bandwidthLines);
  const within = (line: BandwidthLine): boolean => line.direction === "device-to-device";
  const panels: Panel[] = [
    {
      title: "GB/s over the bus",
      domain: [0.38, 1],
      runs: runs.map((lines) => lines.filter((line) => !within(line))),
      roofs: roofsOf(results),
    },
    {
      title: "GB/s on the device",
      domain: [0, 0.3],
      runs: runs.map((lines) => lines.filter(within)),
      roofs: new Map(),
    },
  ];
  const filled = panels.filter((panel) => panel.runs.some((lines) => lines.length > 0));
  return filled.length === 1 ? filled.map((panel) => ({ ...panel, domain: [0, 1] })) : filled;
}

/** Two results over the same bus share one rule. */
function roofsOf(results: readonly BandwidthResult[]): Map<number, string> {
  const roofs = new Map<number, string>();
  for (const { theoreticalGigabytesPerSecond: speed, busName } of results) {
    if (speed === null) continue;
    roofs.set(speed, `${busName}: at most ${speed.toFixed(1)} GB/s one way`);
  }
  return roofs;
}

function panelTraces(panel: Panel, index: number, runNames: readonly string[]): Trace[] {
  const yaxis = axisName("y", index);
  const lines = panel.runs.flatMap((run, runIndex) =>
    run.map((line) => lineTrace(line, { yaxis, run: runIndex, runName: runNames[runIndex] ?? "" }))
  );
  const rings = halfSpeedTrace(panel.runs.flat(), yaxis);
  return rings === null ? lines : [...lines, rings];
}

/** Rings mean the same in both panels: they share a group and the last one's entry. */
function withOneRingInLegend(data: readonly Trace[]): Trace[] {
  const lines = data.filter((trace) => "mode" in trace && trace.mode !== "markers");
  const rings = data.filter((trace) => !lines.includes(trace));
  return [
    ...lines,
    ...rings.map((trace, index) => ({ ...trace, legendgroup: "rings", showlegend: index === 0 })),
  ];
}

function bandwidthLayout(
  results: readonly BandwidthResult[],
  panels: readonly Panel[],
  traceCount: number,
): PlotLayout {
  const margin = {
    l: 48,
    r: 16,
    t: 70 + TITLE_LINE_HEIGHT * results.length,
    b: 60 + LEGEND_LINE_HEIGHT * traceCount,
  };
  const sizes = results.flatMap((result) => result.points.map((point) => point.byteLength));
  return {
    title: {
      text: `<b>${escapeHtml(bandwidthTitle(results))}</b>`,
      subtitle: { text: subtitle(results) },
      font: { size: 16 },
      x: 0,
      xref: "paper",
      xanchor: "left",
      y: 1,
      yref: "container",
      yanchor: "top",
      pad: { t: 12 },
    },
    height: PLOT_HEIGHT + margin.t + margin.b,
    margin,
    hovermode: "closest",
    legend: {
      x: 0,
      xref: "paper",
      xanchor: "left",
      y: 0,
      yref: "container",
      yanchor: "bottom",
      tracegroupgap: 0,
    },
    xaxis: {
      ...sizeAxis(sizes),
      title: { text: "bytes in one copy", standoff: 8, font: { size: 12 } },
      anchor: panels.length > 1 ? "y2" : "y",
      gridcolor: GRID_COLOR,
      zeroline: false,
      ticks: "outside",
      ticklen: 5,
      tickcolor: GRID_COLOR,
    },
    ...speedAxes(panels),
    shapes: panels.flatMap(roofShapes),
    annotations: [...panels.map(panelHeading), ...panels.flatMap(halfSpeedNote)],
  };
}

function subtitle(results: readonly BandwidthResult[]): string {
  const names = resultNames(results);
  return results.map((result, index) => {
    const name = names[index] ?? "";
    return escapeHtml(
      name === "" ? provenanceWords(result) : `${name}: ${provenanceWords(result)}`,
    );
  }).join("<br>");
}

function speedAxes(panels: readonly Panel[]): PlotLayout {
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

function highestSpeed(panel: Panel): number {
  const points = panel.runs.flat().flatMap((line) => line.points);
  return Math.max(...panel.roofs.keys(), ...points.map((point) => point.maxGigabytesPerSecond));
}

function roofShapes(panel: Panel, index: number): Partial<Shape>[] {
  return [...panel.roofs].map(([speed, label]) => ({
    type: "line",
    xref: "x domain" as "x", // the types lack the axis-relative form
    yref: axisName("y", index) as "y",
    x0: 0,
    x1: 1,
    y0: speed,
    y1: speed,
    line: { color: RULE_COLOR, width: 1.5, dash: "dot" },
    label: { text: escapeHtml(label), textposition: "start", yanchor: "bottom", padding: 5 },
  }));
}

/** Stands above the axis rather than along it, where it would have to be read sideways. */
function panelHeading(panel: Panel): Partial<Annotations> {
  return {
    text: panel.title,
    showarrow: false,
    xref: "paper",
    x: 0,
    xanchor: "left",
    yref: "paper",
    y: panel.domain[1],
    yanchor: "bottom",
  };
}

/** Spells out one ring of each panel, on its fastest fit, so that the others explain themselves. */
function halfSpeedNote(panel: Panel, index: number): Partial<Annotations>[] {
  const fitted: FittedLine[] = panel.runs.flat().filter(hasHalfSpeedPoint);
  const [fastest] = fitted.toSorted((a, b) => b.fit.gigabytesPerSecond - a.fit.gigabytesPerSecond);
  if (fastest === undefined) return [];
  const { gigabytesPerSecond, latencySeconds, halfBandwidthBytes } = fastest.fit;
  return [{
    text: `half speed at ${formatBytes(Math.round(halfBandwidthBytes))} =<br>` +
      `${(latencySeconds * 1e6).toFixed(1)} us latency × ${gigabytesPerSecond.toFixed(1)} GB/s`,
    x: Math.log10(halfBandwidthBytes), // on a log axis plotly wants the exponent here
    y: gigabytesPerSecond / 2,
    yref: axisName("y", index) as "y",
    showarrow: false,
    xanchor: "right",
    yanchor: "bottom",
    align: "right",
    xshift: -12,
  }];
}

/** plotly calls the first axis "y" and the next one "y2". */
function axisName(letter: string, index: number): string {
  return index === 0 ? letter : `${letter}${index + 1}`;
}
