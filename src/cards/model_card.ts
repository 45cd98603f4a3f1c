// The card of a loaded model: its tensors, largest first.

import { formatBytes, formatCount } from "../format.ts";
import type { Card, CardPart } from "./card.ts";

/** What the card of a model shows. */
export interface ModelFacts {
  /** Bytes of device memory it holds. */
  readonly byteLength: number;
  /** Whether it was disposed. */
  readonly disposed: boolean;
  /** Texts about the model as a whole. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Its tensors. */
  readonly tensors: readonly ModelTensor[];
}

/** One tensor of a model. */
export interface ModelTensor {
  /** Its name. */
  readonly name: string;
  /** Its element type and shape, as `float32[2, 3]`. */
  readonly type: string;
  /** Its size in bytes. */
  readonly byteLength: number;
}

const SHOWN_TENSORS = 20;

/** Makes the card of a model. */
export function modelCard({ byteLength, disposed, metadata, tensors }: ModelFacts): Card {
  const texts = Object.entries(metadata);
  const about: CardPart[] = texts.length === 0 ? [] : [{ type: "facts", facts: texts }];
  return {
    title: formatCount(tensors.length, "tensor"),
    kind: "SafetensorsModel",
    state: disposed ? "disposed" : undefined,
    summary: `${formatBytes(byteLength)} of device memory`,
    parts: disposed ? [] : [...about, tensorTable(tensors), ...hiddenNote(tensors)],
  };
}

function tensorTable(tensors: readonly ModelTensor[]): CardPart {
  const sorted = tensors.toSorted((a, b) => b.byteLength - a.byteLength);
  const largest = Math.max(1, sorted[0]?.byteLength ?? 1);
  return {
    type: "table",
    header: ["name", "type", "size"],
    align: ["left", "left", "right"],
    rows: sorted.slice(0, SHOWN_TENSORS).map(({ name, type, byteLength }) => ({
      cells: [name, type, formatBytes(byteLength)],
      share: byteLength / largest,
    })),
  };
}

function hiddenNote(tensors: readonly ModelTensor[]): CardPart[] {
  const hiddenCount = tensors.length - SHOWN_TENSORS;
  return hiddenCount > 0 ? [{ type: "note", text: `and ${hiddenCount} smaller ones` }] : [];
}
