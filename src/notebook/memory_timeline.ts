// plotMemoryTimeline(): live memory over time, stacked by kind, with each allocation and free on
// hover.

import type { PlotData } from "npm:@types/plotly.js@3.0.14";
import type { TimelineEvent } from "../accounting/timeline_event.ts";
import { escapeHtml } from "../cards/html.ts";
import type { CudaDevice } from "../device/device.ts";
import { formatBytes, formatSeconds } from "../words/format.ts";
import { requireKind } from "../words/options.ts";
import { byteUnit, secondUnit } from "./axes.ts";
import { Figure } from "./figure.ts";
import { amountsByKind, type KindAmounts } from "./memory_history.ts";
import { areaLook, plainAxis, plotFrame, RULE_COLOR } from "./plot_frame.ts";
import { DEVICE } from "./plot_input.ts";
import { cellMarks, cellNames, markRules, trackMarks, trackNames } from "./timeline_marks.ts";

const PLOT_HEIGHT = 360;
const CELL_NAME_HEIGHT = 18;
const EVENT_NAME = "allocation or free";
/** A single event still needs an axis. */
const MIN_SECONDS = 1e-6;

/**
 * Plots the events of `gpu.timeline`: in notebooks all since the device was opened, elsewhere those
 * since `gpu.timeline.start()`. Solid vertical lines mark the beginnings of cells, dotted ones
 * those of tracks.
 *
 * @throws RangeError when nothing was recorded.
 */
export function plotMemoryTimeline(gpu: CudaDevice): Figure {
  requireKind(gpu, DEVICE, "plotMemoryTimeline");
  const events = gpu.timeline.events();
  const [first] = events;
  const last = events.at(-1);
  if (first === undefined || last === undefined) {
    throw new RangeError(
      "Cannot plot memory over time: nothing was recorded, call gpu.timeline.start() first",
    );
  }
  const history = amountsByKind(events, gpu.live().objects);
  const endSeconds = gpu.timeline.isOn ? Date.now() / 1000 : last.timeSeconds;
  const durationSeconds = Math.max(endSeconds - first.timeSeconds, MIN_SECONDS);
  const time = secondUnit(durationSeconds);
  const size = byteUnit(history.peakBytes);
  const xOf = (event: TimelineEvent) => (event.timeSeconds - first.timeSeconds) / time.size;
  const scale: Scale = {
    times: history.events.map(xOf),
    end: durationSeconds / time.size,
    unitBytes: size.size,
  };
  const words = summaryWords(history, {
    durationSeconds,
    droppedCount: gpu.timeline.droppedCount,
  });
  const [cells, tracks] = [cellMarks(events, xOf), trackMarks(events, xOf)];
  const names = cellNames(cells, scale.end);
  return new Figure({
    data: [
      ...[...history.bytes.keys()].map((kind, index) => kindTrace(history, { kind, index, scale })),
      eventTrace(history, scale),
    ],
    layout: {
      ...plotFrame({
        title: `Memory over time: ${gpu.name}`,
        subtitle: words,
        plotHeight: PLOT_HEIGHT,
        above: names.lineCount * CELL_NAME_HEIGHT,
        legendNames: [...history.bytes.keys(), EVENT_NAME],
        annotations: [...names.annotations, ...trackNames(tracks)],
      }),
      shapes: markRules({ cells, tracks }),
      xaxis: plainAxis(`${time.name} since the first event`, { range: [0, scale.end] }),
      yaxis: plainAxis(size.name, { rangemode: "tozero" }),
    },
    description: describe(history, { device: gpu.name, words }),
  });
}

function summaryWords(
  { peakBytes }: KindAmounts,
  { durationSeconds, droppedCount }: {
    readonly durationSeconds: number;
    readonly droppedCount: number;
  },
): string {
  const words = `${formatSeconds(durationSeconds)}, at most ${formatBytes(peakBytes)} held`;
  return droppedCount === 0 ? words : `${words}, ${droppedCount} earlier events dropped`;
}

interface Scale {
  readonly times: readonly number[];
  /** The end of the time axis, until which the last amounts lasted. */
  readonly end: number;
  readonly unitBytes: number;
}

function kindTrace(
  history: KindAmounts,
  { kind, index, scale }: { kind: string; index: number; scale: Scale },
): Partial<PlotData> {
  const amounts = (history.bytes.get(kind) ?? []).map((bytes) => bytes / scale.unitBytes);
  return {
    type: "scatter",
    mode: "lines",
    name: kind,
    stackgroup: "kinds",
    x: [...scale.times, scale.end],
    y: [...amounts, amounts.at(-1) ?? 0],
    ...areaLook(index),
    hoverinfo: "skip",
  };
}

/** Draws the allocations and frees on the upper edge. */
function eventTrace(history: KindAmounts, { times, unitBytes }: Scale): Partial<PlotData> {
  return {
    type: "scatter",
    mode: "markers",
    name: EVENT_NAME,
    x: [...times],
    y: history.totals.map((bytes) => bytes / unitBytes),
    marker: { size: 5, color: RULE_COLOR },
    text: history.events.map((event, index) => hoverText(event, history.totals[index] ?? 0)),
    hovertemplate: "%{text}<extra></extra>",
  };
}

function hoverText(event: TimelineEvent, total: number): string {
  const { action, name, kind, byteLength, cell } = event;
  const sign = action === "free" ? "−" : "+";
  return `<b>${escapeHtml(name)}</b> ${sign}${formatBytes(byteLength)} of ${kind} memory<br>` +
    `${formatBytes(total)} held after it${cell === undefined ? "" : `, in ${cell}`}`;
}

function describe(
  history: KindAmounts,
  { device, words }: { readonly device: string; readonly words: string },
): string {
  const kinds = [...history.bytes].map(([kind, bytes]) => {
    const most = bytes.reduce((larger, amount) => Math.max(larger, amount), 0);
    return `${kind}: at most ${formatBytes(most)}, ${formatBytes(bytes.at(-1) ?? 0)} at the end.`;
  });
  return [`Memory over time on ${device}: ${words}.`, ...kinds].join("\n");
}
