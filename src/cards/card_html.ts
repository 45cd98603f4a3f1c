// A card as HTML that needs neither scripts nor style sheets, so that it looks the same in a notebook
// that is not trusted. It uses the page's text colour; without styles it is a heading with tables.

import { visibleText } from "../words/format.ts";
import type { BarSegment, Card, CardPart, CardRow, Part } from "./card.ts";
import { FILL, STYLE } from "./card_style.ts";
import { valuesText } from "./card_text.ts";
import { cssWidth, escapeHtml } from "./html.ts";

/** Writes a card as an HTML fragment. */
export function cardHtml(card: Card): string {
  const { title, kind, state, summary, parts } = card;
  const mark = state === undefined ? "" : styled("span", STYLE[state], state);
  const what = kind === "" ? "" : styled("span", STYLE.kind, escapeLine(kind));
  const label = escapeLine(`${kind} ${title}`.trim());
  return `<div class="vk-card" style="${STYLE.card}" role="group" aria-label="${label}">
<div>${styled("b", STYLE.title, breakable(title))}
${what}${mark}</div>
${styled("div", STYLE.summary, escapeHtml(summary))}
${parts.map((part) => WRITERS[part.type](part as never)).join("\n")}
</div>`;
}

/** Writes each type of parts. */
const WRITERS: { readonly [T in CardPart["type"]]: (part: Part<T>) => string } = {
  facts: factsHtml,
  bar: barHtml,
  table: tableHtml,
  values: ({ caption, rows }) =>
    captionHtml(caption) + styled("pre", STYLE.values, escapeHtml(valuesText(rows))),
  histogram: histogramHtml,
  picture: pictureHtml,
  scale: scaleHtml,
  note: ({ text }) => styled("div", STYLE.note, escapeHtml(text)),
};

/** Writes an element with a style around what it contains. */
function styled(tag: string, style: string, contents: string): string {
  return `<${tag} style="${style}">${contents}</${tag}>`;
}

/** Writes an element with a drawing, and its description for people who cannot see it. */
function drawn(style: string, words: string, contents: string): string {
  return `<div style="${style}" role="img" aria-label="${escapeLine(words)}">${contents}</div>`;
}

function factsHtml({ facts }: Part<"facts">): string {
  const items = facts.map(([name, value]) => {
    const shown = styled("span", STYLE.name, escapeLine(name));
    return styled("div", STYLE.fact, `${shown} <span>${breakable(value)}</span>`);
  });
  return styled("div", STYLE.facts, items.join("\n"));
}

function barHtml({ segments, caption }: Part<"bar">): string {
  const total = segments.reduce((sum, segment) => sum + segment.amount, 0);
  const named = segments.filter(({ text }) => text !== "");
  const words = named.map(({ name, text }) => `${name} ${text}`).join(", ");
  const bar = segments.map((segment) => segmentHtml(segment, total)).join("");
  return `${captionHtml(caption)}${drawn(STYLE.bar, words, bar)}
${styled("div", STYLE.legend, named.map(legendHtml).join("\n"))}`;
}

/** Empty segments take the remaining width, because small ones are drawn wider than they are. */
function segmentHtml({ amount, fill }: BarSegment, total: number): string {
  const share = total > 0 ? amount / total : 0;
  const size = fill === "empty" ? "flex:1 1 0" : `flex:none;${cssWidth(share)}`;
  return styled("i", `${size};${FILL[fill]}`, "");
}

function legendHtml({ name, text, fill }: BarSegment): string {
  const swatch = styled("i", `${STYLE.swatch};${FILL[fill]}`, "");
  return styled("span", STYLE.entry, `${swatch}${escapeLine(name)} <b>${escapeLine(text)}</b>`);
}

function tableHtml({ header, align, rows }: Part<"table">): string {
  const hasBars = rows.some(({ share }) => share !== undefined);
  const isRight = (column: number): boolean => align[column] === "right";
  const heading = (text: string, column: number): string =>
    styled("th", isRight(column) ? STYLE.headingRight : STYLE.headingLeft, escapeLine(text));
  const cell = (text: string, column: number): string =>
    isRight(column)
      ? styled("td", STYLE.right, escapeLine(text))
      : styled("td", STYLE.left, breakable(text));
  const bar = (share: number): string =>
    styled("td", STYLE.track, styled("i", `${STYLE.trackBar};${cssWidth(share)}`, ""));
  const line = ({ cells, share }: CardRow): string =>
    styled("tr", STYLE.row, cells.map(cell).join("") + (share === undefined ? "" : bar(share)));
  const headings = header.map(heading);
  if (hasBars) headings.push(styled("th", STYLE.headingLeft, ""));
  const table = `<thead>${styled("tr", STYLE.row, headings.join(""))}</thead>
<tbody>${rows.map(line).join("\n")}</tbody>`;
  return styled("div", STYLE.scroll, styled("table", STYLE.table, table));
}

function histogramHtml({ counts, lowest, highest }: Part<"histogram">): string {
  const tallest = Math.max(1, ...counts);
  const bars = counts.map((count) => {
    const height = Math.round(100 * count / tallest);
    return styled("i", `${STYLE.bin};height:${height}%;min-height:${count === 0 ? 0 : 1}px`, "");
  });
  const words = `${counts.length} bins from ${lowest} to ${highest}`;
  return `${drawn(STYLE.histogram, words, bars.join(""))}
${endsHtml(STYLE.ends, lowest, highest)}`;
}

function pictureHtml({ source, width, height, words }: Part<"picture">): string {
  const size = `width="${width}" height="${height}"`;
  return `<img src="${source}" alt="${escapeLine(words)}" ${size} style="${STYLE.picture}">`;
}

function captionHtml(caption: string | undefined): string {
  return caption === undefined ? "" : styled("div", STYLE.name, escapeHtml(caption));
}

function scaleHtml({ colors, lowest, highest }: Part<"scale">): string {
  const steps = colors.map((color) => styled("i", `flex:1 1 0;background:${color}`, ""));
  return `${drawn(STYLE.scale, `colours from ${lowest} to ${highest}`, steps.join(""))}
${endsHtml(STYLE.scaleEnds, lowest, highest)}`;
}

/** Writes the values at the two ends of what is above. */
function endsHtml(style: string, lowest: string, highest: string): string {
  const ends = [lowest, highest].map((end) => `<span>${escapeHtml(end)}</span>`);
  return styled("div", style, ends.join(""));
}

/** Escapes a text of one line, with control characters written out as in the card's text. */
function escapeLine(text: string): string {
  return escapeHtml(visibleText(text));
}

/** Escapes a text that may break after `.`, `/` or `_`, and not before a cell's number. */
function breakable(text: string): string {
  return text.split(" ").map((word) =>
    /^[a-z_]/i.test(word)
      ? escapeLine(word).replaceAll(/([./_])(?=\w)/g, "$1<wbr>")
      : escapeLine(word)
  ).join(" ").replaceAll(/\bcell (?=\d)/g, "cell&nbsp;");
}
