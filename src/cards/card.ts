// The contents of a card as plain data: a title, a line below it, and parts. Notebooks get it as
// HTML and as text; making it may fail, showing it may not.

import { messageOf } from "../words/format.ts";
import type { Align } from "../words/text_table.ts";
import { cardHtml } from "./card_html.ts";
import { cardText } from "./card_text.ts";

/** A state that a card is marked with, in words as well as in colour. */
export type CardState = "disposed" | "warning" | "error";

/** One stretch of a bar. */
export interface BarSegment {
  /** Name of the stretch. */
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
  readonly share?: number;
}

/** One part of a card. */
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
  | { readonly type: "note"; readonly text: string };

/** The contents of a card. */
export interface Card {
  /** The object's name. */
  readonly title: string;
  /** Kind of object; empty when the title says it. */
  readonly kind: string;
  /** State to mark, when it is out of the ordinary. */
  readonly state?: CardState | undefined;
  /** The most important facts in one line. */
  readonly summary: string;
  /** Parts below it, from top to bottom. */
  readonly parts: readonly CardPart[];
}

/** The output that a notebook shows, by MIME type. */
export interface DisplayBundle {
  /** For notebooks. */
  readonly "text/html": string;
  /** For terminals and plain text. */
  readonly "text/plain": string;
}

/**
 * Makes a card and draws it. When that fails the card says why, because a display must not throw.
 */
export function showCard(makeCard: () => Card): DisplayBundle {
  const card = makeSafely(makeCard);
  return { "text/html": cardHtml(card), "text/plain": cardText(card) };
}

/** Returns the text of a card, for consoles; when it cannot be made, the text says why. */
export function textOfCard(makeCard: () => Card): string {
  return cardText(makeSafely(makeCard));
}

function makeSafely(makeCard: () => Card): Card {
  try {
    return makeCard();
  } catch (error) {
    const summary = messageOf(error);
    return { title: "Cannot be shown", kind: "card", state: "error", summary, parts: [] };
  }
}
