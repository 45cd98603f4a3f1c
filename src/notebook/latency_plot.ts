// plotLatency(): the time of one copy over its size; small copies all cost the same latency.

import type { BandwidthResult } from "../measure/bandwidth_result.ts";
import { formatBytes, formatSeconds } from "../words/format.ts";
import { type BandwidthLine, bandwidthLines } from "./bandwidth_lines.ts";
import { lineTrace } from "./bandwidth_traces.ts";
import { provenanceWords } from "./bandwidth_words.ts";
import { Figure } from "./figure.ts";
import { plainAxis, plotFrame } from "./plot_frame.ts";
import { BANDWIDTH, checkPlotInput } from "./plot_input.ts";
import { sizeAxis } from "./axes.ts";

const PLOT_HEIGHT = 380;
/** Beyond this size a copy's time is all bandwidth, which plotBandwidth() shows better. */
const MAX_LATENCY_BYTES = 16 * 2 ** 20;

/**
 * Plots the time of one copy over its size, up to 16 MiB.
 *
 * @throws RangeError when the result holds no copies that small.
 * @throws TypeError when it is not a result, for example a promise of one.
 */
export function plotLatency(result: BandwidthResult): Figure {
  checkPlotInput(result, { action: "plot latency", ...BANDWIDTH });
  const lines = bandwidthLines(result)
    .map((line) => {
      const points = line.points.filter(({ byteLength }) => byteLength <= MAX_LATENCY_BYTES);
      return { ...line, points };
    })
    .filter(({ points }) => points.length > 0);
  const sizes = lines.flatMap(({ points }) => points.map(({ byteLength }) => byteLength));
  if (sizes.length === 0) {
    const most = formatBytes(MAX_LATENCY_BYTES);
    throw new RangeError(`Cannot plot latency: the result holds no copies of ${most} or less`);
  }
  return new Figure({
    data: lines.map((line) => ({
      ...lineTrace(line, { yaxis: "y", run: 0, runName: "" }),
      y: line.points.map(({ secondsPerCopy }) => secondsPerCopy * 1e6),
      error_y: { visible: false },
    })),
    layout: {
      ...plotFrame({
        title: `Time of one copy: ${result.provenance.device}`,
        subtitle: provenanceWords(result),
        plotHeight: PLOT_HEIGHT,
        legendNames: lines.map(({ name }) => name),
      }),
      xaxis: plainAxis("bytes in one copy", sizeAxis(sizes)),
      yaxis: plainAxis("µs", { type: "log", dtick: 1 }),
    },
    description: [
      `Time of one copy: ${result.provenance.device}. ${provenanceWords(result)}.`,
      ...lines.map(describeLine),
    ].join("\n"),
  });
}

function describeLine({ name, points, fit }: BandwidthLine): string {
  const [smallest] = points;
  const largest = points.at(-1);
  const times = [...new Set([smallest, largest])].flatMap((point) =>
    point === undefined
      ? []
      : [`${formatSeconds(point.secondsPerCopy)} for ${formatBytes(point.byteLength)}`]
  );
  const latency = fit === null ? "" : `, ${formatSeconds(fit.latencySeconds)} of it latency`;
  return `${name}: ${times.join(", ")}${latency}.`;
}
