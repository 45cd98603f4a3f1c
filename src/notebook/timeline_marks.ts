// The marks of a memory timeline: where a cell's first event is, named above the plot, and where a
// track begins, named within it.

import type { Annotations, Shape } from "npm:@types/plotly.js@3.0.14";
import type { TimelineEvent } from "../accounting/timeline_event.ts";
import { escapeHtml } from "../cards/html.ts";
import { GRID_COLOR, LEFT_ALIGNED, RULE_COLOR } from "./plot_frame.ts";

/** The share of the plot's width that a letter of a name takes on a narrow page. */
const GLYPH_SHARE = 0.011;

/** A moment that has a name. */
export interface TimelineMark {
  /** Name of the cell or track that begins there. */
  readonly name: string;
  /** Time in the axis's unit. */
  readonly x: number;
}

/** Returns the beginnings of cells: the events whose cell differs from that of the event before. */
export function cellMarks(
  events: readonly TimelineEvent[],
  xOf: (event: TimelineEvent) => number,
): TimelineMark[] {
  return events.flatMap((event, index) =>
    event.cell === undefined || event.cell === events[index - 1]?.cell
      ? []
      : [{ name: event.cell, x: xOf(event) }]
  );
}

/** Returns the beginnings of tracks. */
export function trackMarks(
  events: readonly TimelineEvent[],
  xOf: (event: TimelineEvent) => number,
): TimelineMark[] {
  return events.filter(({ action }) => action === "begin")
    .map((event) => ({ name: event.name, x: xOf(event) }));
}

/** Draws cells as solid lines and tracks as dotted ones. */
export function markRules(
  { cells, tracks }: {
    readonly cells: readonly TimelineMark[];
    readonly tracks: readonly TimelineMark[];
  },
): Partial<Shape>[] {
  return [
    ...cells.map((mark) => rule(mark, { color: GRID_COLOR, width: 2, dash: "solid" })),
    ...tracks.map((mark) => rule(mark, { color: RULE_COLOR, width: 1, dash: "dot" })),
  ];
}

/** Writes the names of cells above the plot, which ends at `end`, where there is room for them. */
export function cellNames(marks: readonly TimelineMark[], end: number): Partial<Annotations>[] {
  let free = 0;
  return marks.flatMap((mark) => {
    if (mark.x < free) return [];
    free = mark.x + (mark.name.length + 1) * GLYPH_SHARE * end;
    return [{ ...nameNote(mark), yanchor: "bottom" as const }];
  });
}

/** Writes the names of tracks at the top of the plot. */
export function trackNames(marks: readonly TimelineMark[]): Partial<Annotations>[] {
  return marks.map((mark) => ({ ...nameNote(mark), yanchor: "top" }));
}

function rule({ x }: TimelineMark, line: Partial<Shape>["line"]): Partial<Shape> {
  return { type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", ...(line && { line }) };
}

function nameNote({ name, x }: TimelineMark): Partial<Annotations> {
  return { ...LEFT_ALIGNED, text: escapeHtml(name), x, y: 1, yref: "paper", font: { size: 11 } };
}
