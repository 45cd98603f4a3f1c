// The cards of buffers, of packed ones and of views: their contents, their place in memory, where they
// were created, and the first values.

import { type LiveKind, nameOf } from "../accounting/ledger.ts";
import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import { blockOf, GpuBuffer } from "../buffers/gpu_buffer.ts";
import { PackedBuffers } from "../buffers/packed_buffers.ts";
import { PitchedBuffer } from "../buffers/pitched_buffer.ts";
import { formatShape } from "../buffers/shape.ts";
import { StridedView } from "../buffers/strided_view.ts";
import { contiguousStrides } from "../buffers/strides.ts";
import { viewNameOf } from "../buffers/views.ts";
import { elementBytes } from "../dtype.ts";
import type { Allocation } from "../memory/allocation.ts";
import {
  classNameOf,
  formatAddress,
  formatBytes,
  formatCount,
  formatSeconds,
} from "../words/format.ts";
import { type Card, type CardPart, factsPart, hiddenNote, table } from "./card.ts";
import { segment } from "./memory_bar.ts";
import { type PreviewLayout, previewOf } from "./preview.ts";
import { show } from "./show_card.ts";

show(GpuBuffer, bufferCard);
show(StridedView, stridedCard);
show(PackedBuffers, packedCard);

const SHOWN_BUFFERS = 20;

const PLACES: Readonly<Record<LiveKind, string>> = {
  device: "device memory",
  pinned: "page-locked host memory",
  mapped: "host memory that the GPU reads in place",
  managed: "memory that migrates between host and GPU",
  virtual: "device memory that grows in place",
  registered: "registered host memory",
  imported: "memory that another program lends",
  pool: "driver memory pool",
  stream: "a stream",
  event: "an event",
  graph: "a graph",
  module: "a module",
  group: "a group of devices",
  dlpack: "a struct for another library",
};

/** Place of a view in its block, in bytes. */
interface ViewPlace {
  /** From the start of the block to the first element. */
  readonly byteOffset: number;
  /** From the first element to the end of the last. */
  readonly extentBytes: number;
  readonly blockBytes: number;
}

function bufferCard(buffer: GpuBuffer): Card {
  const { isView, byteOffset, byteLength, length, label, disposed } = buffer;
  const block = blockOf(buffer);
  const kind = buffer.constructor.name;
  const card = {
    ...cardOf(buffer, buffer),
    kind: isView
      ? `${kind}, a view${viewNameOf(buffer) === undefined ? "" : ` of ${label}`}`
      : kind,
  };
  if (disposed) return { ...card, state: "disposed", parts: [] };
  const place = { byteOffset, extentBytes: byteLength, blockBytes: buffer.totalByteLength };
  const facts = factsPart([
    ["elements", length.toLocaleString("en-US")],
    ["address", addressWords(buffer, block)],
    ["made", `${formatSeconds((Date.now() - block.createdAt) / 1000)} ago`],
    ["made at", block.origin],
    ["from", classNameOf(buffer.memoryResource)],
  ]);
  const { dtype, shape } = buffer;
  const layout = { dtype, shape, strides: contiguousStrides(shape), offset: 0, byteOffset };
  const shown = contentsPart(layout, block);
  return { ...card, parts: [...(isView ? [placeBar(place)] : []), ...facts, shown] };
}

function stridedCard(view: StridedView): Card {
  const { buffer, dtype, shape, strides, length, disposed } = view;
  const isOwner = view instanceof PitchedBuffer;
  const kind = isOwner ? "PitchedBuffer" : "StridedView, a view";
  const card = { ...cardOf(buffer, view), kind };
  if (disposed) return { ...card, state: "disposed", parts: [] };
  const bytes = elementBytes(dtype);
  const reach = shape.reduce((sum, size, axis) => sum + (size - 1) * (strides[axis] ?? 0), 1);
  const place = {
    byteOffset: buffer.byteOffset + view.offset * bytes,
    extentBytes: length === 0 ? 0 : reach * bytes,
    blockBytes: buffer.totalByteLength,
  };
  const block = blockOf(buffer);
  const facts = factsPart([
    ["elements", length.toLocaleString("en-US")],
    ["address", isOwner ? formatAddress(block.address) : undefined],
    ["pitch", isOwner ? `${view.pitchBytes} bytes a row` : undefined],
    ["in steps of", isOwner ? undefined : `[${strides.join(", ")}]`],
    ["from", classNameOf(buffer.memoryResource)],
  ]);
  const layout = { dtype, shape, strides, offset: view.offset, byteOffset: buffer.byteOffset };
  const shown = contentsPart(layout, block);
  return { ...card, parts: [...(isOwner ? [] : [placeBar(place)]), ...facts, shown] };
}

function packedCard(packed: PackedBuffers<readonly DeviceBuffer[]>): Card {
  const { byteLength, disposed, length } = packed;
  const buffers = disposed ? [] : [...packed];
  const rows = buffers.slice(0, SHOWN_BUFFERS).map(({ dtype, shape, byteOffset }, index) => ({
    cells: [String(index), formatShape(dtype, shape), String(byteOffset)],
  }));
  const shown = table({ index: "right", type: "left", "starts at byte": "right" }, rows);
  return {
    title: formatCount(length, "buffer"),
    kind: "PackedBuffers",
    state: disposed ? "disposed" : undefined,
    summary: `${formatBytes(byteLength)} of device memory`,
    parts: disposed ? [] : [shown, ...hiddenNote(length - rows.length)],
  };
}

/** The title and the line below it. */
function cardOf(
  buffer: GpuBuffer,
  { dtype, shape, byteLength }: Pick<GpuBuffer, "dtype" | "shape" | "byteLength">,
) {
  const { label, kind, storageId: id, deviceOrdinal } = buffer;
  const type = `${formatShape(dtype, shape)}, ${formatBytes(byteLength)}`;
  return {
    title: viewNameOf(buffer) ?? nameOf({ label, kind, id }),
    summary: `${type} in ${PLACES[kind]}, device ${deviceOrdinal}`,
  };
}

/** The address; memory that comes at its first use, or grows, has none before. */
function addressWords(buffer: GpuBuffer, { address, byteLength }: Allocation): string {
  if (byteLength > 0) return formatAddress(address + BigInt(buffer.byteOffset));
  return buffer.totalByteLength === 0 && buffer.kind !== "virtual" ? "none" : "none yet";
}

/** Draws the part of a block that a view shows. */
function placeBar({ byteOffset, extentBytes, blockBytes }: ViewPlace): CardPart {
  const after = Math.max(0, blockBytes - byteOffset - extentBytes);
  return {
    type: "bar",
    segments: [
      segment("before", byteOffset, "dotted"),
      segment("this view", extentBytes, "solid"),
      segment("after", after, "dotted"),
    ],
  };
}

/** Shows some values, or says where those are that sleep: to look at them would bring them back. */
function contentsPart(layout: PreviewLayout, block: Allocation): CardPart {
  if (block.asleep !== undefined) {
    const text = `${block.asleep}; its next use, or gpu.wake(), brings it back`;
    return { type: "note", text };
  }
  const preview = previewOf(layout, block);
  if ("missing" in preview) return { type: "facts", facts: [["values", preview.missing]] };
  const { rows, isWhole } = preview;
  return { type: "values", caption: isWhole ? "values" : "first and last values", rows };
}
