// The card of buffers that were uploaded together: the type and the place of each.

import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import type { PackedBuffers } from "../buffers/packed_buffers.ts";
import { formatShape } from "../buffers/shape.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { type Card, type CardPart, hiddenNote } from "./card.ts";

const SHOWN_BUFFERS = 20;

/** Makes the card of packed buffers. */
export function packedCard(packed: PackedBuffers<readonly DeviceBuffer[]>): Card {
  const { byteLength, disposed, length } = packed;
  const buffers = disposed ? [] : [...packed];
  const rows = buffers.slice(0, SHOWN_BUFFERS).map(({ dtype, shape, byteOffset }, index) => ({
    cells: [String(index), formatShape(dtype, shape), String(byteOffset)],
  }));
  const table: CardPart = {
    type: "table",
    header: ["index", "type", "starts at byte"],
    align: ["right", "left", "right"],
    rows,
  };
  return {
    title: formatCount(length, "buffer"),
    kind: "PackedBuffers",
    state: disposed ? "disposed" : undefined,
    summary: `${formatBytes(byteLength)} of device memory`,
    parts: disposed ? [] : [table, ...hiddenNote(length - rows.length)],
  };
}
