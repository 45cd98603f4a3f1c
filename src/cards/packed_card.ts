// The card of buffers that were uploaded together: what each is and where it starts.

import { formatBytes, formatCount } from "../format.ts";
import type { Card, CardPart } from "./card.ts";

/** What the card of packed buffers shows. */
export interface PackedFacts {
  /** Bytes of device memory they take, with the padding between them. */
  readonly byteLength: number;
  /** Whether they were disposed. */
  readonly disposed: boolean;
  /** The buffers in order: element type and shape, and the place in the block. */
  readonly buffers: readonly { readonly type: string; readonly byteOffset: number }[];
}

const SHOWN_BUFFERS = 20;

/** Makes the card of packed buffers. */
export function packedCard({ byteLength, disposed, buffers }: PackedFacts): Card {
  const rows = buffers.slice(0, SHOWN_BUFFERS).map(({ type, byteOffset }, index) => ({
    cells: [String(index), type, String(byteOffset)],
  }));
  const table: CardPart = {
    type: "table",
    header: ["index", "type", "starts at byte"],
    align: ["right", "left", "right"],
    rows,
  };
  const hiddenCount = buffers.length - rows.length;
  const note: CardPart[] = hiddenCount > 0
    ? [{ type: "note", text: `and ${hiddenCount} more` }]
    : [];
  return {
    title: formatCount(buffers.length, "buffer"),
    kind: "PackedBuffers",
    state: disposed ? "disposed" : undefined,
    summary: `${formatBytes(byteLength)} of device memory`,
    parts: disposed ? [] : [table, ...note],
  };
}
