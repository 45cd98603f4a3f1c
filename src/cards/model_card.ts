// The card of a loaded model: its tensors, largest first.

import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import { formatShape } from "../buffers/shape.ts";
import type { SafetensorsModel } from "../interop/safetensors/model.ts";
import type { DeviceParts } from "../spread/device_parts.ts";
import type { ShardedModel } from "../spread/sharded_model.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import type { Card, CardPart } from "./card.ts";

/** A tensor with its name. */
type NamedTensor = readonly [name: string, tensor: DeviceBuffer];

/** A tensor over several devices with its name. */
type NamedParts = readonly [name: string, parts: DeviceParts];

const SHOWN_TENSORS = 20;

/** Makes the card of a model. */
export function modelCard(model: SafetensorsModel): Card {
  const { byteLength, disposed, metadata } = model;
  const tensors = [...model];
  return {
    title: formatCount(tensors.length, "tensor"),
    kind: "SafetensorsModel",
    state: disposed ? "disposed" : undefined,
    summary: `${formatBytes(byteLength)} of device memory`,
    parts: disposed ? [] : [...factsOf(metadata), tensorTable(tensors), ...smallerNote(tensors)],
  };
}

/** Makes the card of a model over several devices. */
export function shardedCard(model: ShardedModel): Card {
  const { byteLength, deviceBytes, disposed, metadata } = model;
  const tensors = [...model];
  const each = deviceBytes.map((bytes) => formatBytes(bytes)).join(", ");
  return {
    title: formatCount(tensors.length, "tensor"),
    kind: "ShardedModel",
    state: disposed ? "disposed" : undefined,
    summary: `${formatBytes(byteLength)} on ${formatCount(deviceBytes.length, "device")}: ${each}`,
    parts: disposed ? [] : [...factsOf(metadata), partsTable(tensors), ...smallerNote(tensors)],
  };
}

function factsOf(metadata: SafetensorsModel["metadata"]): CardPart[] {
  const facts = Object.entries(metadata);
  return facts.length === 0 ? [] : [{ type: "facts", facts }];
}

function partsTable(tensors: readonly NamedParts[]): CardPart {
  const sorted = tensors.toSorted(([, a], [, b]) => b.byteLength - a.byteLength);
  const largest = Math.max(1, sorted[0]?.[1].byteLength ?? 1);
  return {
    type: "table",
    header: ["name", "type", "split", "size on all"],
    align: ["left", "left", "left", "right"],
    rows: sorted.slice(0, SHOWN_TENSORS).map(([name, { dtype, shape, split, byteLength }]) => ({
      cells: [
        name,
        formatShape(dtype, shape),
        split === "replicate" ? "whole on each" : `axis ${split}`,
        formatBytes(byteLength),
      ],
      share: byteLength / largest,
    })),
  };
}

function tensorTable(tensors: readonly NamedTensor[]): CardPart {
  const sorted = tensors.toSorted(([, a], [, b]) => b.byteLength - a.byteLength);
  const largest = Math.max(1, sorted[0]?.[1].byteLength ?? 1);
  return {
    type: "table",
    header: ["name", "type", "size"],
    align: ["left", "left", "right"],
    rows: sorted.slice(0, SHOWN_TENSORS).map(([name, { dtype, shape, byteLength }]) => ({
      cells: [name, formatShape(dtype, shape), formatBytes(byteLength)],
      share: byteLength / largest,
    })),
  };
}

function smallerNote(tensors: readonly unknown[]): CardPart[] {
  const hiddenCount = tensors.length - SHOWN_TENSORS;
  return hiddenCount > 0 ? [{ type: "note", text: `and ${hiddenCount} smaller ones` }] : [];
}
