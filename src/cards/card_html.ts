// A card as HTML that needs no script: it takes the page's text colour, so that it reads on light
// and on dark pages, and without its style it is still a heading with text and tables.

import type { BarSegment, Card, CardPart, CardRow } from "./card.ts";
import { CARD_STYLE } from "./card_style.ts";
import { valuesText } from "./card_text.ts";
import { cssWidth, escapeHtml } from "./html.ts";

type Part<T extends CardPart["type"]> = Extract<CardPart, { type: T }>;

/** Writes a card as an HTML fragment with its own style. */
export function cardHtml(card: Card): string {
  const state = card.state === undefined
    ? ""
    : `<span class="vk-state vk-${card.state}">${card.state}</span>`;
  const kind = card.kind === "" ? "" : `<span class="vk-kind">${escapeHtml(card.kind)}</span>`;
  return `<div class="vk-card" role="group" aria-label="${
    escapeHtml(`${card.kind} ${card.title}`.trim())
  }">
<style>${CARD_STYLE}</style>
<div class="vk-head"><b class="vk-title">${escapeHtml(card.title)}</b>
${kind}${state}</div>
<div class="vk-summary">${escapeHtml(card.summary)}</div>
${card.parts.map(partHtml).join("\n")}
</div>`;
}

function partHtml(part: CardPart): string {
  switch (part.type) {
    case "facts":
      return factsHtml(part);
    case "bar":
      return barHtml(part);
    case "table":
      return tableHtml(part);
    case "values":
      return valuesHtml(part);
    case "histogram":
      return histogramHtml(part);
    case "note":
      return `<div class="vk-note">${escapeHtml(part.text)}</div>`;
  }
}

function factsHtml({ facts }: Part<"facts">): string {
  const items = facts.map(([name, value]) =>
    `<div><span class="vk-name">${escapeHtml(name)}</span> <span>${escapeHtml(value)}</span></div>`
  );
  return `<div class="vk-facts">${items.join("\n")}</div>`;
}

function barHtml({ segments, caption }: Part<"bar">): string {
  const total = segments.reduce((sum, segment) => sum + segment.amount, 0);
  const named = segments.filter(({ text }) => text !== "");
  const words = named.map(({ name, text }) => `${name} ${text}`).join(", ");
  const heading = caption === undefined ? "" : `<div class="vk-name">${escapeHtml(caption)}</div>`;
  return `${heading}<div class="vk-bar" role="img" aria-label="${escapeHtml(words)}">${
    segments.map((segment) => segmentHtml(segment, total)).join("")
  }</div>
<div class="vk-legend">${named.map(legendHtml).join("\n")}</div>`;
}

function segmentHtml({ amount, fill }: BarSegment, total: number): string {
  const share = total > 0 ? amount / total : 0;
  return `<i class="vk-${fill}" style="width:${cssWidth(share)}"></i>`;
}

function legendHtml({ name, text, fill }: BarSegment): string {
  return `<span><i class="vk-swatch vk-${fill}"></i>${escapeHtml(name)} <b>${
    escapeHtml(text)
  }</b></span>`;
}

function tableHtml({ header, align, rows }: Part<"table">): string {
  const hasBars = rows.some(({ share }) => share !== undefined);
  const cell = (tag: "td" | "th", text: string, column: number): string =>
    `<${tag} class="vk-${align[column] ?? "left"}">${escapeHtml(text)}</${tag}>`;
  const line = ({ cells, share }: CardRow): string =>
    `<tr>${cells.map((text, column) => cell("td", text, column)).join("")}${
      share === undefined
        ? ""
        : `<td class="vk-track"><i class="vk-solid" style="width:${cssWidth(share)}"></i></td>`
    }</tr>`;
  return `<div class="vk-scroll"><table class="vk-table"><thead><tr>${
    header.map((text, column) => cell("th", text, column)).join("")
  }${hasBars ? "<th></th>" : ""}</tr></thead>
<tbody>${rows.map(line).join("\n")}</tbody></table></div>`;
}

function valuesHtml({ caption, rows }: Part<"values">): string {
  return `<div class="vk-name">${escapeHtml(caption)}</div><pre class="vk-values">${
    escapeHtml(valuesText(rows))
  }</pre>`;
}

function histogramHtml({ counts, lowest, highest }: Part<"histogram">): string {
  const tallest = Math.max(1, ...counts);
  const bars = counts.map((count) =>
    `<i class="vk-solid" style="height:${
      count === 0 ? "0" : `max(1px, ${Math.round(100 * count / tallest)}%)`
    }"></i>`
  );
  const words = `${counts.length} bins from ${lowest} to ${highest}`;
  return `<div class="vk-histogram" role="img" aria-label="${escapeHtml(words)}">${
    bars.join("")
  }</div>
<div class="vk-ends"><span>${escapeHtml(lowest)}</span><span>${escapeHtml(highest)}</span></div>`;
}
