// The card of a memory resource: the stack of adaptors from the outermost to where memory comes from.

import { placeOf, stackOf } from "../memory/describe_resource.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { formatCount } from "../words/format.ts";
import type { Card, CardRow } from "./card.ts";

/** Makes the card of a resource and of all its upstreams. */
export function resourceCard(resource: MemoryResource): Card {
  const place = placeOf(resource);
  const stack = stackOf(resource);
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
