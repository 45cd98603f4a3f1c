// Gives classes their cards. The classes themselves know nothing of them.

import type { Card } from "./card.ts";
import { showCard, textOfCard } from "./show_card.ts";

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
