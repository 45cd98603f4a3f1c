// Cards as notebooks show them, as HTML and as text: making a card may fail, showing it may not.

import { messageOf } from "../words/format.ts";
import type { Card } from "./card.ts";
import { cardHtml } from "./card_html.ts";
import { cardText } from "./card_text.ts";

/** The output that a notebook shows, by MIME type. */
export interface DisplayBundle {
  /** For notebooks. */
  readonly "text/html": string;
  /** For terminals and plain text. */
  readonly "text/plain": string;
}

/** Replaces an output that has nothing to show any more. */
export const NOTHING_SHOWN: DisplayBundle = { "text/html": "", "text/plain": "" };

/** Makes a card and draws it; a card that fails says why, because a display must not throw. */
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
