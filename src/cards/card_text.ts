// A card as text, for terminals, plain notebooks and screen readers.

import { visibleText } from "../words/format.ts";
import { formatTable } from "../words/text_table.ts";
import type { Card, CardPart, Part } from "./card.ts";

const BAR_WIDTH = 40;
const FILL_CHARACTERS = { solid: "█", hatched: "▒", dotted: "░", empty: "·" } as const;
const HISTOGRAM_CHARACTERS = " ▁▂▃▄▅▆▇█";

/** Writes a card as lines of text. */
export function cardText(card: Card): string {
  const state = card.state === undefined ? "" : ` [${card.state}]`;
  const heading = `${card.kind} ${visibleText(card.title)}${state}: ${card.summary}`;
  return [heading.trimStart(), ...card.parts.map((part) => WRITERS[part.type](part as never))].join(
    "\n",
  );
}

/** Writes each type of parts. */
const WRITERS: { readonly [T in CardPart["type"]]: (part: Part<T>) => string } = {
  facts: ({ facts }) => facts.map((fact) => visibleText(fact.join(": "))).join("\n"),
  bar: barText,
  table: ({ header, rows, align }) =>
    formatTable([header, ...rows.map(({ cells }) => cells)], align),
  values: ({ caption, rows }) => `${caption}:\n${valuesText(rows)}`,
  histogram: ({ lowest, counts, highest }) => `${lowest} ${histogramText(counts)} ${highest}`,
  picture: ({ words }) => words,
  scale: ({ lowest, highest }) => `colours from ${lowest} to ${highest}`,
  note: ({ text }) => text,
};

/** Lays numbers out in columns, aligned to the right. */
export function valuesText(rows: readonly (readonly string[])[]): string {
  const columnCount = Math.max(0, ...rows.map((row) => row.length));
  return formatTable(rows, Array(columnCount).fill("right"));
}

function barText({ segments, caption }: Part<"bar">): string {
  const total = segments.reduce((sum, segment) => sum + segment.amount, 0);
  const bar = segments.map(({ amount, fill }) =>
    FILL_CHARACTERS[fill].repeat(
      amount > 0 ? Math.max(1, Math.round(BAR_WIDTH * amount / total)) : 0,
    )
  );
  const named = segments.filter(({ text }) => text !== "");
  const legend = named.map(({ name, text, fill }) =>
    `${FILL_CHARACTERS[fill]} ${visibleText(name)} ${text}`
  );
  const lines = [caption ?? "", `[${bar.join("")}]`, legend.join(", ")];
  return lines.filter((line) => line !== "").join("\n");
}

function histogramText(counts: readonly number[]): string {
  const highest = Math.max(1, ...counts);
  return counts.map((count) => {
    const level = Math.ceil((HISTOGRAM_CHARACTERS.length - 1) * count / highest);
    return HISTOGRAM_CHARACTERS[level] ?? "";
  }).join("");
}
