// Cards as notebooks show them, as HTML and as text: making a card may fail, showing it may not. Classes get
// their cards here, and know nothing of them.

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

/** A class, whether or not others may construct it. */
interface Shown<T> {
  readonly prototype: T;
}

/** Gives a class's objects a card in notebooks, and its text elsewhere if they have no other. */
export function show<T extends object>(
  { prototype }: Shown<T>,
  makeCard: (shown: T) => Card,
): void {
  showInCells({ prototype }, makeCard);
  const text = Symbol.for("Deno.customInspect");
  const words = (shown: T): string => textOfCard(() => makeCard(shown));
  if (!(text in prototype)) define(prototype, text, words);
  if (prototype.toString === Object.prototype.toString) define(prototype, "toString", words);
}

/** Gives a class's objects a card in notebooks only: the console shows errors best by itself. */
export function showInCells<T extends object>(
  { prototype }: Shown<T>,
  makeCard: (shown: T) => Card,
): void {
  const card = Symbol.for("Jupyter.display");
  define(prototype, card, (shown: T) => showCard(() => makeCard(shown)));
}

function define<T extends object>(
  prototype: T,
  name: PropertyKey,
  method: (shown: T) => unknown,
): void {
  Object.defineProperty(prototype, name, {
    configurable: true,
    writable: true,
    value(this: T) {
      return method(this);
    },
  });
}
