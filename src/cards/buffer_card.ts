// The card of a buffer or a view: what it holds, where it lies, who made it, and its first values.

import { formatBytes, formatSeconds } from "../format.ts";
import type { Card, CardPart } from "./card.ts";

/** The first values of a buffer, or why they are not shown. */
export type Preview =
  | { readonly rows: readonly string[][]; readonly isWhole: boolean }
  | { readonly missing: string };

/** Where a view lies in its block, in bytes. */
export interface ViewPlace {
  /** From the start of the block to the first element. */
  readonly byteOffset: number;
  /** From the first element to the end of the last. */
  readonly extentBytes: number;
  /** The whole block. */
  readonly blockBytes: number;
}

/** What the card of a buffer shows. */
export interface BufferFacts {
  /** Its class. */
  readonly kind: string;
  /** Its label, or its kind and number. */
  readonly name: string;
  /** Its element type and shape, as `float32[2, 3]`. */
  readonly type: string;
  /** Where its memory lies, as `page-locked host memory of device 0`. */
  readonly place: string;
  /** Its size in bytes. */
  readonly byteLength: number;
  /** How many elements. */
  readonly length: number;
  /** Where its memory comes from. */
  readonly resource: string;
  /** Seconds since its block was made, when that is known. */
  readonly ageSeconds?: number;
  /** Where it was made, when that is known. */
  readonly origin?: string | undefined;
  /** Its place in its block; undefined for a buffer that is the whole block. */
  readonly view: ViewPlace | undefined;
  /** What a buffer that can still be used has beyond that; undefined once it was disposed. */
  readonly content: { readonly address?: string; readonly preview: Preview } | undefined;
}

/** Makes the card of a buffer. */
export function bufferCard(facts: BufferFacts): Card {
  const { kind, name, type, place, byteLength, view, content } = facts;
  const size = `${type}, ${formatBytes(byteLength)}`;
  return {
    title: name,
    kind: view === undefined ? kind : `${kind}, a view`,
    state: content === undefined ? "disposed" : undefined,
    summary: `${size} in ${place}`,
    parts: content === undefined ? [] : [
      ...(view === undefined ? [] : [placeBar(view)]),
      originFacts(facts, content.address),
      previewPart(content.preview),
    ],
  };
}

function originFacts(facts: BufferFacts, address: string | undefined): CardPart {
  const { length, resource, ageSeconds, origin } = facts;
  return {
    type: "facts",
    facts: [
      ["elements", length.toLocaleString("en-US")],
      ...(address === undefined ? [] : [["address", address] as const]),
      ...(ageSeconds === undefined ? [] : [["made", `${formatSeconds(ageSeconds)} ago`] as const]),
      ...(origin === undefined ? [] : [["made at", origin] as const]),
      ["from", resource],
    ],
  };
}

/** Draws the part of a block that a view shows. */
function placeBar({ byteOffset, extentBytes, blockBytes }: ViewPlace): CardPart {
  const after = Math.max(0, blockBytes - byteOffset - extentBytes);
  return {
    type: "bar",
    segments: [
      { name: "before", amount: byteOffset, text: formatBytes(byteOffset), fill: "dotted" },
      { name: "this view", amount: extentBytes, text: formatBytes(extentBytes), fill: "solid" },
      { name: "after", amount: after, text: formatBytes(after), fill: "dotted" },
    ],
  };
}

function previewPart(preview: Preview): CardPart {
  if ("missing" in preview) return { type: "facts", facts: [["values", preview.missing]] };
  const { rows, isWhole } = preview;
  return { type: "values", caption: isWhole ? "values" : "first values", rows };
}
