// The cards of streams and events: whether the GPU is done with what was queued.

import { messageOf } from "../format.ts";
import type { Card } from "./card.ts";

/** What the card of a stream or an event shows. */
export interface QueueFacts {
  /** Its class. */
  readonly kind: string;
  /** Its label, or its number. */
  readonly name: string;
  /** Which device it belongs to. */
  readonly ordinal: number;
  /** What it is, beside its device. */
  readonly qualities: readonly string[];
  /** Its handle in hexadecimal, and what the GPU says of it; undefined once it was disposed. */
  readonly content: { readonly handle: string; readonly progress: string } | undefined;
}

/** Makes the card of a stream or an event. */
export function queueCard({ kind, name, ordinal, qualities, content }: QueueFacts): Card {
  const what = [`device ${ordinal}`, ...qualities].join(", ");
  if (content === undefined) {
    return { title: name, kind, state: "disposed", summary: what, parts: [] };
  }
  const { handle, progress } = content;
  return {
    title: name,
    kind,
    summary: `${progress}; ${what}`,
    parts: [{ type: "facts", facts: [["handle", handle]] }],
  };
}

/** Says how far the GPU is, also when asking fails because queued work did. */
export function progressWords(
  isDone: () => boolean,
  words: { done: string; busy: string },
): string {
  try {
    return isDone() ? words.done : words.busy;
  } catch (error) {
    return `failed: ${messageOf(error)}`;
  }
}
