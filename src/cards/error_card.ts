// The cards of errors: what failed, and for a lack of memory the amounts that explain it.

import { formatBytes } from "../format.ts";
import type { Card, CardPart } from "./card.ts";
import { memoryBar } from "./memory_bar.ts";

/** What the card of an error shows. */
export interface ErrorFacts {
  /** Its class. */
  readonly name: string;
  /** Action, colon, state. */
  readonly message: string;
  /** Further facts, each with its name. */
  readonly facts?: readonly (readonly [name: string, value: string])[];
}

/** The amounts behind a lack of memory, in bytes. */
export interface ShortageFacts extends ErrorFacts {
  /** What was asked for. */
  readonly requestedBytes: number;
  /** What the device had free. */
  readonly freeBytes: number;
  /** What this program's live buffers hold. */
  readonly liveBytes: number;
  /** What is kept for reuse. */
  readonly cachedBytes: number;
  /** What other programs and the driver itself hold. */
  readonly otherBytes: number;
  /** What a limit of our own allowed; undefined without one. */
  readonly limitBytes: number | undefined;
  /** The largest live buffers, largest first. */
  readonly largest: readonly { readonly name: string; readonly byteLength: number }[];
}

/** Makes the card of an error. */
export function errorCard({ name, message, facts = [] }: ErrorFacts): Card {
  const parts: CardPart[] = facts.length === 0 ? [] : [{ type: "facts", facts }];
  return { title: name, kind: "", state: "error", summary: message, parts };
}

/** Makes the card of a lack of memory. */
export function shortageCard(facts: ShortageFacts): Card {
  const { requestedBytes, limitBytes, largest } = facts;
  const card = errorCard(facts);
  const limit = limitBytes === undefined ? [] : [["limit", formatBytes(limitBytes)] as const];
  const asked: CardPart = {
    type: "facts",
    facts: [["asked for", formatBytes(requestedBytes)], ...limit],
  };
  const top = largest[0]?.byteLength ?? 1;
  const holders: CardPart = {
    type: "table",
    header: ["largest live", "size"],
    align: ["left", "right"],
    rows: largest.map(({ name, byteLength }) => ({
      cells: [name, formatBytes(byteLength)],
      share: byteLength / top,
    })),
  };
  const parts = [
    asked,
    memoryBar(facts),
    ...(largest.length === 0 ? [] : [holders]),
  ];
  return { ...card, parts: [...parts, ...card.parts] };
}
