// The card of a loaded model: its tensors, largest first.

import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import { blockOf } from "../buffers/gpu_buffer.ts";
import { formatShape } from "../buffers/shape.ts";
import type { DeviceModel } from "../interop/loaded_contents.ts";
import { SafetensorsModel } from "../interop/safetensors/model.ts";
import type { Persistence } from "../persist/persistence.ts";
import type { DeviceParts } from "../spread/device_parts.ts";
import { ShardedModel } from "../spread/sharded_model.ts";
import { cut, formatBytes, formatCount } from "../words/format.ts";
import { type Card, type CardPart, factsPart, hiddenNote, table } from "./card.ts";
import { show } from "./show_card.ts";

show(SafetensorsModel, (model) => modelCard(model));
show(ShardedModel, shardedCard);

type Named<T> = readonly [name: string, tensor: T];

const SHOWN_TENSORS = 20;
const FACT_LETTERS = 500;

/** Makes the card of a model; with one more column where its kind has one. */
export function modelCard<F extends string>(
  model: DeviceModel<F, Readonly<Record<string, unknown>>>,
  column?: TensorColumn<DeviceBuffer>,
): Card {
  const { byteLength, disposed, metadata } = model;
  const tensors = [...model];
  return {
    title: formatCount(tensors.length, "tensor"),
    kind: model.constructor.name,
    state: disposed ? "disposed" : undefined,
    summary: asleepWords(tensors) ?? `${formatBytes(byteLength)} of device memory`,
    parts: disposed
      ? []
      : [...persistenceParts(model), ...factsOf(metadata), ...tensorParts(tensors, "size", column)],
  };
}

function shardedCard(model: ShardedModel): Card {
  const { byteLength, deviceBytes, disposed, metadata } = model;
  const tensors = [...model];
  const each = deviceBytes.map((bytes) => formatBytes(bytes)).join(", ");
  return {
    title: formatCount(tensors.length, "tensor"),
    kind: "ShardedModel",
    state: disposed ? "disposed" : undefined,
    summary: `${formatBytes(byteLength)} on ${formatCount(deviceBytes.length, "device")}: ${each}`,
    parts: disposed ? [] : [...factsOf(metadata), ...tensorParts(tensors, "size on all", SPLIT)],
  };
}

/** Says that a model sleeps, and where. */
function asleepWords(tensors: readonly Named<DeviceBuffer>[]): string | undefined {
  const [first] = tensors;
  return first === undefined ? undefined : blockOf(first[1]).asleep;
}

/** Says what is known about a model that outlives its program. */
function persistenceParts(model: object): CardPart[] {
  const { persistence } = model as { readonly persistence?: Persistence };
  return factsPart([["persisted", persistence?.toString()]]);
}

function factsOf(metadata: Readonly<Record<string, unknown>>): CardPart[] {
  return factsPart(Object.entries(metadata).map(([name, value]) => [name, factWords(value)]));
}

/** Values are cut: a chat template has thousands of letters, and a vocabulary of words. */
function factWords(value: unknown): string {
  const { length }: { readonly length?: number } = Object(value);
  return typeof value === "object"
    ? formatCount(length ?? 0, "value")
    : cut(`${value}`, FACT_LETTERS);
}

const SPLIT: TensorColumn<DeviceParts> = {
  heading: "split",
  words: ({ split }) => split === "replicate" ? "whole on each" : `axis ${split}`,
};

/** A column that some kinds of models have. */
export interface TensorColumn<T> {
  readonly heading: string;
  readonly words: (tensor: T, name: string) => string;
}

/** The largest tensors, and a note about the others; with one more column where there is one. */
export function tensorParts<
  T extends Pick<DeviceBuffer | DeviceParts, "dtype" | "shape" | "byteLength">,
>(
  tensors: readonly Named<T>[],
  sizeHeading: string,
  column?: TensorColumn<T>,
): CardPart[] {
  const sorted = tensors.toSorted(([, a], [, b]) => b.byteLength - a.byteLength);
  const rows = sorted.slice(0, SHOWN_TENSORS).map(([name, tensor]) => {
    const { dtype, shape, byteLength } = tensor;
    const more = column === undefined ? [] : [column.words(tensor, name)];
    const cells = [name, formatShape(dtype, shape), ...more, formatBytes(byteLength)];
    return { cells, amount: byteLength };
  });
  const more = column === undefined ? {} : { [column.heading]: "left" as const };
  return [
    table({ name: "left", type: "left", ...more, [sizeHeading]: "right" }, rows),
    ...hiddenNote(tensors.length - SHOWN_TENSORS, "smaller ones"),
  ];
}
