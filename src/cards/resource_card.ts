// The card of a memory resource: the stack of adaptors from the outermost to where memory comes from.

import { formatCount } from "../format.ts";
import type { Card, CardRow } from "./card.ts";

/** One resource of a stack. */
export interface ResourceFacts {
  /** Its class. */
  readonly name: string;
  /** Its counters and limits, each with its name. */
  readonly facts: readonly (readonly [name: string, value: string])[];
}

/** Makes the card of a stack of resources, the outermost first. */
export function resourceCard(stack: readonly ResourceFacts[], place: string): Card {
  const [outermost, ...upstream] = stack;
  const rows: CardRow[] = stack.map(({ name, facts }, depth) => ({
    cells: [
      depth === 0 ? name : `over ${name}`,
      facts.map(([fact, value]) => `${fact} ${value}`).join(", "),
    ],
  }));
  return {
    title: outermost?.name ?? "none",
    kind: "MemoryResource",
    summary: upstream.length === 0
      ? `gives ${place}`
      : `gives ${place} through ${formatCount(upstream.length, "further resource")}`,
    parts: [{ type: "table", header: ["resource", "state"], align: [], rows }],
  };
}
