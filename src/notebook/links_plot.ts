// plotLinks(): the speeds of the links of several devices, one bar for each case of nvbandwidth.

import type { PlotData } from "npm:@types/plotly.js@3.0.14";
import { escapeHtml } from "../cards/html.ts";
import { LinkBandwidthResult, type LinkSpeed } from "../measure/link_bandwidth_result.ts";
import { formatBytes, formatCount, formatSpeed } from "../words/format.ts";
import { Figure } from "./figure.ts";
import { hueAt, patternAt, plainAxis, plotFrame, rowAxis, RULE_COLOR } from "./plot_frame.ts";
import { checkPlotInput } from "./plot_input.ts";

const ROW_HEIGHT = 30;

interface Stretch {
  readonly found: LinkSpeed;
  /** The device or the pair, in words. */
  readonly name: string;
  readonly speed: number;
}

/**
 * Plots the links of several devices: a bar for each case, as long as the sum of its speeds, with a
 * stretch for each device or pair.
 *
 * @throws RangeError when the result has no case.
 * @throws TypeError when it is not a result, for example a promise of one.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { plotLinks } from "vramkit/notebook";
 *
 * using gpus = CudaDevice.openMany([0, 1], { driver: "simulated" });
 * const links = await gpus.bandwidth({ caseSize: "64 KiB", sampleCount: 1 });
 * console.log(plotLinks(links)); // as a cell's last expression it draws itself
 * ```
 */
export function plotLinks(result: LinkBandwidthResult): Figure {
  checkPlotInput(result, {
    action: "plot links",
    source: "gpus.bandwidth()",
    key: "devices",
    Result: LinkBandwidthResult,
  });
  const { cases, devices, provenance } = result;
  if (cases.length === 0) {
    throw new RangeError("Cannot plot links: the result has no case, measure at least one");
  }
  const rows = cases.map((found) => stretchesOf(found, result));
  const most = Math.max(...rows.map(({ length }) => length));
  const modelled = provenance.isModelled ? "modelled: " : "";
  return new Figure({
    data: Array.from({ length: most }, (_, index) => traceOf(rows, index)),
    layout: {
      ...plotFrame({
        title: `Links of ${formatCount(devices.length, "device")}: ${provenance.device}`,
        subtitle: `${modelled}GB/s over all links of a case, a stretch for each device or pair`,
        plotHeight: ROW_HEIGHT * cases.length,
        left: 16,
      }),
      barmode: "stack",
      bargap: 0.25,
      xaxis: plainAxis("GB/s (1 GB = 10^9 bytes)", { rangemode: "tozero" }),
      yaxis: rowAxis(cases.map(({ name }) => wordsOf(name))),
    },
    description: describe(result),
  });
}

function traceOf(rows: readonly (readonly Stretch[])[], index: number): Partial<PlotData> {
  const stretches = rows.flatMap((row) => row[index] ?? []);
  return {
    type: "bar",
    orientation: "h",
    y: stretches.map(({ found }) => wordsOf(found.name)),
    x: stretches.map(({ speed }) => speed),
    hovertext: stretches.map(({ name, speed, found }) =>
      `<b>${escapeHtml(name)}</b><br>${formatSpeed(speed)}, copies of ` +
      `${formatBytes(found.byteLength)}`
    ),
    hovertemplate: "%{hovertext}<extra></extra>",
    marker: {
      color: hueAt(index),
      pattern: { shape: patternAt(index), fgcolor: "#ffffff", size: 6 },
      line: { color: RULE_COLOR, width: 1 },
    },
  } as Partial<PlotData>;
}

function stretchesOf(found: LinkSpeed, { devices }: LinkBandwidthResult): Stretch[] {
  const nameOf = (place: number) => `device ${devices[place]?.ordinal ?? place}`;
  return found.matrix.flatMap((line, row) =>
    line.flatMap((speed, column) => {
      if (speed === null) return [];
      const name = found.matrix.length > 1
        ? `${nameOf(row)} with ${nameOf(column)}`
        : nameOf(column);
      return [{ found, name, speed }];
    })
  );
}

/** Returns a case's name without the parts that all names share. */
function wordsOf(name: string): string {
  return name.replace(/_memcpy/, "").replace(/_ce$/, "").replaceAll("_", " ");
}

function describe(result: LinkBandwidthResult): string {
  const rows = result.cases.map((found) => {
    const parts = stretchesOf(found, result).map(({ name, speed }) =>
      `${name} ${formatSpeed(speed)}`
    );
    return `${wordsOf(found.name)}: ${formatSpeed(found.gigabytesPerSecond)}` +
      (parts.length === 0 ? "." : ` (${parts.join(", ")}).`);
  });
  return [`Links of ${formatCount(result.devices.length, "device")}.`, ...rows].join("\n");
}
