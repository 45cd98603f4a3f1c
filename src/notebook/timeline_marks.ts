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

/** Names that lie on each other, as one. */
export interface NameGroup {
  readonly names: string[];
  readonly x: number;
}

/** Letters that fit into a line over the whole plot. */
const MAX_LETTERS = Math.floor(1 / GLYPH_SHARE);

/**
 * Writes the names of all cells above the plot, which ends at `end`, and counts the lines that they take:
 * neighbours share a label.
 */
export function cellNames(
  marks: readonly TimelineMark[],
  end: number,
): { readonly annotations: Partial<Annotations>[]; readonly lineCount: number } {
  const groups: NameGroup[] = [];
  for (const { name, x } of marks) {
    groups.push({ names: [name], x });
    mergeLast(groups, end);
  }
  const labels = groups.map((group) => ({ ...placeOf(group, end), lines: linesOf(group) }));
  return {
    annotations: labels.map(({ left, lines }) => ({
      ...nameNote({ name: lines.join("\n"), x: left }),
      text: lines.map(escapeHtml).join("<br>"),
      yanchor: "bottom" as const,
    })),
    lineCount: Math.max(0, ...labels.map(({ lines }) => lines.length)),
  };
}

/** Joins labels that lie on each other; one at the right edge begins further left than its mark. */
function mergeLast(groups: NameGroup[], end: number): void {
  let last = groups.at(-1);
  let before = groups.at(-2);
  while (last !== undefined && before !== undefined) {
    if (placeOf(last, end).left >= placeOf(before, end).right) return;
    before.names.push(...last.names);
    groups.pop();
    [last, before] = [before, groups.at(-2)];
  }
}

/** Returns the range of the axis that a label covers. */
export function placeOf(
  group: NameGroup,
  end: number,
): { readonly left: number; readonly right: number } {
  const width = Math.max(...linesOf(group).map(({ length }) => length + 1)) * GLYPH_SHARE * end;
  const left = Math.max(0, Math.min(group.x, end - width));
  return { left, right: left + width };
}

/** `cell 3`, or `cells 3, 4, 7-9`, in lines. */
function linesOf({ names }: NameGroup): string[] {
  if (names.length === 1) return [...names];
  const lines = ["cells"];
  for (const [index, name] of names.entries()) {
    const word = name.replace(/^cell /, "") + (index < names.length - 1 ? "," : "");
    const line = lines.at(-1) ?? "";
    if (line.length + 1 + word.length > MAX_LETTERS) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

/** Writes the names of tracks at the top of the plot. */
export function trackNames(marks: readonly TimelineMark[]): Partial<Annotations>[] {
  return marks.map((mark) => ({ ...nameNote(mark), yanchor: "top" }));
}

function rule({ x }: TimelineMark, line: Partial<Shape>["line"]): Partial<Shape> {
  return { type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", ...(line && { line }) };
}

/** Writes a name at the top of the plot. */
export function nameNote({ name, x }: TimelineMark): Partial<Annotations> {
  return { ...LEFT_ALIGNED, text: escapeHtml(name), x, y: 1, yref: "paper", font: { size: 11 } };
}
