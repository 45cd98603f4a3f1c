// plotOverlap(): work that ran at the same time, as one row of bars for each stream.

import type { PlotData } from "npm:@types/plotly.js@3.0.14";
import { escapeHtml } from "../cards/html.ts";
import { type OverlapSpan, type OverlapTrace, timesWith } from "../measure/overlap.ts";
import { formatBytes, formatSeconds, formatSpeed } from "../words/format.ts";
import { type AxisUnit, secondUnit } from "./axes.ts";
import { Figure } from "./figure.ts";
import { hueAt, patternAt, plainAxis, plotFrame, rowAxis, RULE_COLOR } from "./plot_frame.ts";
import { checkPlotInput } from "./plot_input.ts";

const ROW_HEIGHT = 46;
const BOTH_LANE = "two or more";

/**
 * Plots a trace: one row for each stream, and one for the times in which two or more pieces ran at
 * once.
 *
 * @throws RangeError when the trace is empty.
 * @throws TypeError when it is not a trace, for example a promise of one.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { plotOverlap } from "vramkit/notebook";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using first = gpu.createStream();
 * using second = gpu.createStream();
 * using source = gpu.pinned("float32", 2 ** 20).fill(1);
 * using target = gpu.pinned("float32", 2 ** 20);
 * using a = gpu.alloc("float32", 2 ** 20);
 * using b = gpu.zeros("float32", 2 ** 20);
 * const trace = await gpu.traceOverlap((trace) => {
 *   trace.run("up", first, () => a.copyFrom(source, { stream: first }));
 *   trace.run("down", second, () => b.copyTo(target, { stream: second }));
 * });
 * console.log(plotOverlap(trace)); // as a cell's last expression it draws itself
 * ```
 */
export function plotOverlap(trace: OverlapTrace): Figure {
  checkPlotInput(trace, { action: "plot overlap", source: "gpu.traceOverlap()", key: "spans" });
  const { spans, device } = trace;
  if (spans.length === 0) {
    throw new RangeError("Cannot plot overlap: the trace holds no work, run() at least one piece");
  }
  const lanes = [...new Set(spans.map(({ lane }) => lane))];
  const end = spans.reduce((latest, { endSeconds }) => Math.max(latest, endSeconds), 0);
  const unit = secondUnit(end);
  return new Figure({
    data: [
      ...lanes.map((lane, index) => laneTrace(spans, { lane, index, unit })),
      bothTrace(spans, unit),
    ],
    layout: {
      ...plotFrame({
        title: `Overlap: ${device}`,
        subtitle: summaryWords(trace),
        plotHeight: ROW_HEIGHT * (lanes.length + 1),
        left: 16,
      }),
      barmode: "overlay",
      bargap: 0.28,
      xaxis: plainAxis(`${unit.name} since the first piece began`, { range: [0, end / unit.size] }),
      yaxis: rowAxis([...lanes, BOTH_LANE].map(escapeHtml)),
    },
    description: describe(trace, lanes),
  });
}

function laneTrace(
  spans: readonly OverlapSpan[],
  { lane, index, unit }: { lane: string; index: number; unit: AxisUnit },
): Partial<PlotData> {
  const own = spans.filter((span) => span.lane === lane);
  return {
    ...barsAt(own, lane, unit),
    text: own.map(({ name }) => escapeHtml(name)),
    textposition: "inside",
    insidetextanchor: "middle",
    insidetextfont: { color: "#ffffff" },
    hovertext: own.map(hoverText),
    marker: { color: hueAt(index), line: { color: RULE_COLOR, width: 1 } },
  } as Partial<PlotData>;
}

/** Lays stretches of time out as the bars of a row. */
function barsAt(
  stretches: readonly Pick<OverlapSpan, "startSeconds" | "endSeconds">[],
  row: string,
  unit: AxisUnit,
): Partial<PlotData> {
  return {
    type: "bar",
    orientation: "h",
    name: escapeHtml(row),
    y: stretches.map(() => escapeHtml(row)),
    base: stretches.map(({ startSeconds }) => startSeconds / unit.size),
    x: stretches.map(({ startSeconds, endSeconds }) => (endSeconds - startSeconds) / unit.size),
    hovertemplate: "%{hovertext}<extra></extra>",
  } as Partial<PlotData>; // the types lack `base`
}

function bothTrace(spans: readonly OverlapSpan[], unit: AxisUnit): Partial<PlotData> {
  const stretches = timesWith(2, spans);
  return {
    ...barsAt(stretches, BOTH_LANE, unit),
    hovertext: stretches.map(({ startSeconds, endSeconds }) =>
      `${formatSeconds(endSeconds - startSeconds)} of overlap`
    ),
    marker: {
      color: "rgba(128,128,128,0.35)",
      pattern: { shape: patternAt(1), fgcolor: RULE_COLOR, size: 6 },
      line: { color: RULE_COLOR, width: 1 },
    },
  };
}

function hoverText({ name, lane, startSeconds, endSeconds, copiedBytes }: OverlapSpan): string {
  const seconds = endSeconds - startSeconds;
  const speed = copiedBytes === 0 || seconds === 0
    ? []
    : [`${formatBytes(copiedBytes)} at ${formatSpeed(copiedBytes / seconds / 1e9)}`];
  return [`<b>${escapeHtml(name)}</b> on ${escapeHtml(lane)}`, formatSeconds(seconds), ...speed]
    .join("<br>");
}

function summaryWords(trace: OverlapTrace): string {
  const { activeSeconds, overlappedSeconds, parallelism, gigabytesPerSecond } = trace;
  const share = activeSeconds === 0 ? 0 : Math.round(100 * overlappedSeconds / activeSeconds);
  const modelled = trace.isModelled ? "modelled: " : "";
  return `${modelled}two or more at once for ${share}% of ${formatSeconds(activeSeconds)}, ` +
    `${parallelism.toFixed(2)} at a time on average, ${formatSpeed(gigabytesPerSecond)} together`;
}

function describe(trace: OverlapTrace, lanes: readonly string[]): string {
  const rows = lanes.map((lane) => {
    const own = trace.spans.filter((span) => span.lane === lane);
    const pieces = own.map(({ name, startSeconds, endSeconds }) =>
      `${name} from ${formatSeconds(startSeconds)} to ${formatSeconds(endSeconds)}`
    );
    return `${lane}: ${pieces.join(", ")}.`;
  });
  return [`Overlap on ${trace.device}: ${summaryWords(trace)}.`, ...rows].join("\n");
}
