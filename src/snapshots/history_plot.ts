// The plot of a snapshot's history: memory over time, stacked by the places that allocated it.

import type { Annotations } from "npm:@types/plotly.js@3.0.14";
import { escapeHtml } from "../cards/html.ts";
import { byteUnit, secondUnit } from "../notebook/axes.ts";
import { Figure } from "../notebook/figure.ts";
import { areaLook, plainAxis, plotFrame, RULE_COLOR } from "../notebook/plot_frame.ts";
import { markRules, nameNote, placeOf } from "../notebook/timeline_marks.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import type { SnapshotFacts } from "./snapshot_amounts.ts";
import type { SnapshotEvent } from "./snapshot_form.ts";
import { stackHistory } from "./stack_history.ts";
import { linesOf } from "./stacks.ts";

const PLOT_HEIGHT = 380;
const RESERVED = "taken from the driver";
const MAX_RULES = 100;

/** Plots the history of a device. */
export function plotHistory(
  snapshot: SnapshotFacts,
  { device, stackCount, axis }: {
    readonly device: number;
    readonly stackCount: number;
    readonly axis: "time" | "steps";
  },
): Figure {
  const events = snapshot.events[device] ?? [];
  const segments = snapshot.segments.filter((segment) => segment.device === device);
  const history = stackHistory({ events, segments }, stackCount);
  const { areas, reservedBytes, peakBytes } = history;
  const reservedPeak = Math.max(...reservedBytes);
  const scale = scaleOf(events, axis);
  const unit = byteUnit(Math.max(1, peakBytes, reservedPeak));
  // A picture of no step still has a width.
  const x = events.length === 0 ? [0, 1] : history.moments.map(scale.xOfMoment);
  const lineOf = (bytes: readonly number[], text: string) => ({
    type: "scatter" as const,
    mode: "lines" as const,
    x,
    y: x.map((_, index) => (bytes[index] ?? bytes[0] ?? 0) / unit.size),
    text,
    hovertemplate: `%{text}<br><b>%{y:.4~g} ${unit.name}</b><extra></extra>`,
  });
  const marks = marksOf(snapshot, { device, events, scale });
  const summary = events.length === 0
    ? "no history was recorded; what is held now"
    : `${formatCount(events.length, "step")}, at most ${formatBytes(peakBytes)} held, ` +
      `${formatBytes(reservedPeak)} taken from the driver`;
  return new Figure({
    data: [
      ...areas.map(({ stack, name, bytes }, index) => ({
        ...lineOf(bytes, linesOf(stack).map(escapeHtml).join("<br>")),
        name: escapeHtml(name),
        stackgroup: "stacks",
        ...areaLook(index),
      })),
      {
        ...lineOf(reservedBytes, RESERVED),
        name: RESERVED,
        line: { shape: "hv", width: 1.5, color: RULE_COLOR, dash: "dash" },
      },
    ],
    layout: {
      ...plotFrame({
        title: `Memory over time: ${snapshot.name}, device ${device}`,
        subtitle: summary,
        plotHeight: PLOT_HEIGHT,
        above: marks.names.length > 0 ? 18 : 0,
        legendNames: [...areas.map(({ name }) => name), RESERVED],
        annotations: marks.names,
      }),
      shapes: marks.rules,
      xaxis: plainAxis(scale.title, { range: [x[0], x.at(-1)] }),
      yaxis: plainAxis(unit.name, { rangemode: "tozero" }),
    },
    description: [
      `Memory over time in ${snapshot.name} on device ${device}: ${summary}.`,
      ...areas.map(({ name, bytes, peakBytes }) =>
        `${name}: at most ${formatBytes(peakBytes)}, ${formatBytes(bytes.at(-1) ?? 0)} at the end.`
      ),
    ].join("\n"),
  });
}

interface Scale {
  readonly title: string;
  readonly end: number;
  /** Returns the place of a number of steps that are done. */
  xOfMoment(moment: number): number;
  xOfTime(seconds: number): number | undefined;
}

/** Returns the axis: time where it was asked for and every step has one, and steps otherwise. */
function scaleOf(events: readonly SnapshotEvent[], axis: "time" | "steps"): Scale {
  const times = events.flatMap(({ timeSeconds }) => timeSeconds ?? []);
  const isTimed = times.length === events.length;
  const [first = 0, last = first] = [times[0], times.at(-1)];
  const unit = secondUnit(last - first);
  const end = (last - first) / unit.size;
  if (axis === "time" && isTimed && end > 0) {
    const xOfTime = (seconds: number) => Math.max(0, (seconds - first) / unit.size);
    return {
      title: `${unit.name} since the first step`,
      end,
      xOfMoment: (moment) => xOfTime(times[moment - 1] ?? first),
      xOfTime: (seconds) => seconds <= last ? xOfTime(seconds) : undefined,
    };
  }
  return {
    title: "steps of the allocator",
    end: events.length,
    xOfMoment: (moment) => moment,
    xOfTime: (seconds) => {
      const step = times.findIndex((time) => time >= seconds);
      return isTimed && step !== -1 ? step : undefined;
    },
  };
}

/** Marks where memory ran out, and where annotations begin that lie in no other. */
function marksOf(
  { annotations }: SnapshotFacts,
  { device, events, scale }: {
    readonly device: number;
    readonly events: readonly SnapshotEvent[];
    readonly scale: Scale;
  },
) {
  const marks: { readonly name: string; readonly x: number | undefined }[] = [];
  for (const [step, { action, byteLength }] of events.entries()) {
    if (action !== "oom" || marks.length === MAX_RULES) continue;
    marks.push({ name: `out of memory: ${formatBytes(byteLength)}`, x: scale.xOfMoment(step + 1) });
  }
  let within = -Infinity;
  for (const { name, device: own, startSeconds, endSeconds = Infinity } of annotations) {
    if (own !== device || startSeconds === undefined || startSeconds < within) continue;
    if (marks.length === MAX_RULES) break;
    within = endSeconds;
    marks.push({ name, x: scale.xOfTime(startSeconds) });
  }
  const tracks = marks.flatMap(({ name, x }) => x === undefined ? [] : [{ name, x }]);
  const names: Partial<Annotations>[] = [];
  let free = 0;
  for (const { name, x } of tracks) {
    const { left, right } = placeOf({ names: [name], x }, scale.end);
    if (left < free) continue;
    free = right;
    names.push({ ...nameNote({ name, x: left }), yanchor: "bottom" });
  }
  return { rules: markRules({ cells: [], tracks }), names };
}
