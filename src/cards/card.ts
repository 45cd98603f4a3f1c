// The contents of a card as plain data: a title, a line below it, and parts.

import type { Align } from "../words/text_table.ts";

/** A state that a card is marked with, in words as well as in colour. */
export type CardState = "disposed" | "warning" | "error";

/** Words for what the simulated driver measured. */
export const MODELLED = "modelled: no hardware was measured";

/** One stretch of a bar. */
export interface BarSegment {
  readonly name: string;
  /** Amount; all segments together are the whole bar. */
  readonly amount: number;
  /** The amount in words. */
  readonly text: string;
  /** Fill pattern, so that the bar can be read without colour. */
  readonly fill: "solid" | "hatched" | "dotted" | "empty";
}

/** A row of a table. */
export interface CardRow {
  /** Texts, one for each column. */
  readonly cells: readonly string[];
  /** Length of the bar in the row, from 0 to 1. */
  readonly share?: number | undefined;
}

export type CardPart =
  | { readonly type: "facts"; readonly facts: readonly (readonly [name: string, value: string])[] }
  | { readonly type: "bar"; readonly caption?: string; readonly segments: readonly BarSegment[] }
  | {
    readonly type: "table";
    readonly header: readonly string[];
    readonly align: readonly Align[];
    readonly rows: readonly CardRow[];
  }
  | { readonly type: "values"; readonly caption: string; readonly rows: readonly string[][] }
  | {
    readonly type: "histogram";
    readonly counts: readonly number[];
    readonly lowest: string;
    readonly highest: string;
  }
  | {
    readonly type: "picture";
    /** A data URL. */
    readonly source: string;
    readonly width: number;
    readonly height: number;
    /** Description of the picture. */
    readonly words: string;
  }
  | {
    readonly type: "scale";
    /** CSS colours from the lowest value to the highest. */
    readonly colors: readonly string[];
    readonly lowest: string;
    readonly highest: string;
  }
  | { readonly type: "note"; readonly text: string };

/** A part of one type. */
export type Part<T extends CardPart["type"]> = Extract<CardPart, { type: T }>;

/** The contents of a card. */
export interface Card {
  readonly title: string;
  /** Kind of object; empty when the title says it. */
  readonly kind: string;
  /** State to mark, when it is out of the ordinary. */
  readonly state?: CardState | undefined;
  /** The most important facts in one line. */
  readonly summary: string;
  readonly parts: readonly CardPart[];
}

/** A row whose amount is drawn as a bar beside the largest one's, where it has one. */
interface TableRow extends CardRow {
  readonly amount?: number;
}

/** Makes a table from the names of its columns, each with its alignment. */
export function table(
  columns: Readonly<Record<string, Align>>,
  rows: readonly TableRow[],
): CardPart {
  const largest = Math.max(1, ...rows.map(({ amount = 0 }) => amount));
  return {
    type: "table",
    header: Object.keys(columns),
    align: Object.values(columns),
    rows: rows.map(({ cells, amount, share = amount && amount / largest }) => ({ cells, share })),
  };
}

/** Makes a list of the facts that are known: nothing without any. */
export function factsPart(
  facts: readonly (readonly [name: string, value: string | undefined])[],
): CardPart[] {
  const known = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const]
  );
  return known.length === 0 ? [] : [{ type: "facts", facts: known }];
}

/** Makes a note: nothing without a text. */
export function note(text: string | undefined): CardPart[] {
  return text === undefined || text === "" ? [] : [{ type: "note", text }];
}

/** Returns a note about rows that a table leaves out; none where it shows all. */
export function hiddenNote(hiddenCount: number, words = "more"): CardPart[] {
  return note(hiddenCount > 0 ? `and ${hiddenCount} ${words}` : undefined);
}
