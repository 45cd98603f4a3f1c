// The card of a GGUF model: its short metadata, and its tensors, largest first. The entry for GGUF loads it.

import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import { GgufModel } from "../interop/gguf/model.ts";
import type { GgufValue } from "../interop/gguf/header_scanner.ts";
import { cut, formatBytes, formatCount } from "../words/format.ts";
import type { Card, CardPart } from "./card.ts";
import { type TensorColumn, tensorParts } from "./model_card.ts";
import { show } from "./show_class.ts";

/** Texts are cut to so many letters: a chat template has thousands. */
const SHOWN_LETTERS = 80;

/** Makes the card of a model. */
function ggufCard(model: GgufModel): Card {
  const { byteLength, disposed, metadata } = model;
  const tensors = [...model];
  const facts = Object.entries(metadata).map(([name, value]) => [name, valueWords(value)] as const);
  const parts: CardPart[] = facts.length === 0 ? [] : [{ type: "facts", facts }];
  return {
    title: formatCount(tensors.length, "tensor"),
    kind: "GgufModel",
    state: disposed ? "disposed" : undefined,
    summary: `${formatBytes(byteLength)} of device memory`,
    parts: disposed ? [] : [...parts, ...tensorParts(tensors, "size", formatColumn(model))],
  };
}

function formatColumn(model: GgufModel): TensorColumn<DeviceBuffer> {
  return { heading: "format", words: (_, name) => model.format(name) };
}

function valueWords(value: GgufValue): string {
  if (typeof value === "object") return formatCount(value.length, "value");
  return cut(`${value}`, SHOWN_LETTERS);
}

show(GgufModel, ggufCard);
