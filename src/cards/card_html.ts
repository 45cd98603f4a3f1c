// A card as HTML that needs neither scripts nor style sheets, so that it looks the same in a notebook
// that is not trusted. It takes the page's text colour, and is a heading with tables without styles.

import type { BarSegment, Card, CardPart, CardRow } from "./card.ts";
import { FILL, STYLE } from "./card_style.ts";
import { valuesText } from "./card_text.ts";
import { cssWidth, escapeHtml } from "./html.ts";

type Part<T extends CardPart["type"]> = Extract<CardPart, { type: T }>;

/** Writes a card as an HTML fragment. */
export function cardHtml(card: Card): string {
  const { title, kind, state, summary, parts } = card;
  const mark = state === undefined ? "" : `<span style="${STYLE[state]}">${state}</span>`;
  const what = kind === "" ? "" : `<span style="${STYLE.kind}">${escapeHtml(kind)}</span>`;
  return `<div class="vk-card" style="${STYLE.card}" role="group" aria-label="${
    escapeHtml(`${kind} ${title}`.trim())
  }">
<div><b style="${STYLE.title}">${breakable(title)}</b>
${what}${mark}</div>
<div style="${STYLE.summary}">${escapeHtml(summary)}</div>
${parts.map(partHtml).join("\n")}
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
    case "picture":
      return pictureHtml(part);
    case "scale":
      return scaleHtml(part);
    case "note":
      return `<div style="${STYLE.note}">${escapeHtml(part.text)}</div>`;
  }
}

function factsHtml({ facts }: Part<"facts">): string {
  const items = facts.map(([name, value]) =>
    `<div style="${STYLE.fact}"><span style="${STYLE.name}">${escapeHtml(name)}</span> <span>${
      breakable(value)
    }</span></div>`
  );
  return `<div style="${STYLE.facts}">${items.join("\n")}</div>`;
}

function barHtml({ segments, caption }: Part<"bar">): string {
  const total = segments.reduce((sum, segment) => sum + segment.amount, 0);
  const named = segments.filter(({ text }) => text !== "");
  const words = named.map(({ name, text }) => `${name} ${text}`).join(", ");
  return `${captionHtml(caption)}<div style="${STYLE.bar}" role="img" aria-label="${
    escapeHtml(words)
  }">${segments.map((segment) => segmentHtml(segment, total)).join("")}</div>
<div style="${STYLE.legend}">${named.map(legendHtml).join("\n")}</div>`;
}

/** Empty segments take what the others leave, since small ones are drawn wider than they are. */
function segmentHtml({ amount, fill }: BarSegment, total: number): string {
  const share = total > 0 ? amount / total : 0;
  const size = fill === "empty" ? "flex:1 1 0" : `flex:none;${cssWidth(share)}`;
  return `<i style="${size};${FILL[fill]}"></i>`;
}

function legendHtml({ name, text, fill }: BarSegment): string {
  return `<span style="${STYLE.entry}"><i style="${STYLE.swatch};${FILL[fill]}"></i>${
    escapeHtml(name)
  } <b>${escapeHtml(text)}</b></span>`;
}

function tableHtml({ header, align, rows }: Part<"table">): string {
  const hasBars = rows.some(({ share }) => share !== undefined);
  const isRight = (column: number): boolean => align[column] === "right";
  const heading = (text: string, column: number): string =>
    `<th style="${isRight(column) ? STYLE.headingRight : STYLE.headingLeft}">${
      escapeHtml(text)
    }</th>`;
  const cell = (text: string, column: number): string =>
    isRight(column)
      ? `<td style="${STYLE.right}">${escapeHtml(text)}</td>`
      : `<td style="${STYLE.left}">${breakable(text)}</td>`;
  const line = ({ cells, share }: CardRow): string =>
    `<tr style="${STYLE.row}">${cells.map(cell).join("")}${
      share === undefined
        ? ""
        : `<td style="${STYLE.track}"><i style="${STYLE.trackBar};${cssWidth(share)}"></i></td>`
    }</tr>`;
  return `<div style="${STYLE.scroll}"><table style="${STYLE.table}"><thead><tr style="${STYLE.row}">${
    header.map(heading).join("")
  }${hasBars ? `<th style="${STYLE.headingLeft}"></th>` : ""}</tr></thead>
<tbody>${rows.map(line).join("\n")}</tbody></table></div>`;
}

function valuesHtml({ caption, rows }: Part<"values">): string {
  return `${captionHtml(caption)}<pre style="${STYLE.values}">${
    escapeHtml(valuesText(rows))
  }</pre>`;
}

function histogramHtml({ counts, lowest, highest }: Part<"histogram">): string {
  const tallest = Math.max(1, ...counts);
  const bars = counts.map((count) =>
    `<i style="${STYLE.bin};height:${Math.round(100 * count / tallest)}%;min-height:${
      count === 0 ? 0 : 1
    }px"></i>`
  );
  const words = `${counts.length} bins from ${lowest} to ${highest}`;
  return `<div style="${STYLE.histogram}" role="img" aria-label="${escapeHtml(words)}">${
    bars.join("")
  }</div>
<div style="${STYLE.ends}"><span>${escapeHtml(lowest)}</span><span>${
    escapeHtml(highest)
  }</span></div>`;
}

function pictureHtml({ source, width, height, words }: Part<"picture">): string {
  return `<img src="${source}" alt="${
    escapeHtml(words)
  }" width="${width}" height="${height}" style="${STYLE.picture}">`;
}

function captionHtml(caption: string | undefined): string {
  return caption === undefined ? "" : `<div style="${STYLE.name}">${escapeHtml(caption)}</div>`;
}

function scaleHtml({ colors, lowest, highest }: Part<"scale">): string {
  const steps = colors.map((color) => `<i style="flex:1 1 0;background:${color}"></i>`);
  return `<div style="${STYLE.scale}" role="img" aria-label="${
    escapeHtml(`colours from ${lowest} to ${highest}`)
  }">${steps.join("")}</div>
<div style="${STYLE.scaleEnds}"><span>${escapeHtml(lowest)}</span><span>${
    escapeHtml(highest)
  }</span></div>`;
}

/** Escapes a text whose long names may break after a dot, a slash or an underscore. */
function breakable(text: string): string {
  return text.split(" ").map((word) =>
    /^[a-z_]/i.test(word)
      ? escapeHtml(word).replaceAll(/([./_])(?=\w)/g, "$1<wbr>")
      : escapeHtml(word)
  ).join(" ");
}
