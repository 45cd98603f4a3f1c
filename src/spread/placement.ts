// Rules for the distribution of tensors over several devices, by their names.

import { formatAxes, formatShape, resolveStep, type Shape } from "../buffers/shape.ts";
import { typeOf } from "../interop/safetensors/formats.ts";
import type { DType } from "../dtype.ts";
import type { TensorEntry } from "../interop/safetensors/header.ts";
import { visibleText } from "../words/format.ts";
import { isRecord, type OptionKind } from "../words/options.ts";
import { type Split, splitArray, type SplitLayout } from "./split.ts";

/** Distribution of the tensors of a rule: split along an axis, or the whole on each device. */
export type Placement = { readonly split: number } | "replicate";

/** A rule: the distribution of tensors whose name matches the pattern, or is the text. */
export type PlacementRule = readonly [name: RegExp | string, placement: Placement];

/** The kind of a list of rules. */
export const PLACEMENT_RULES: OptionKind = {
  expected: 'a list of rules, such as [[/norm/, "replicate"], [/./, { split: 0 }]]',
  accepts: (value) => Array.isArray(value) && value.every(isRule),
};

/** A tensor, and its parts. */
export interface DistributedTensor {
  readonly dtype: DType;
  readonly shape: Shape;
  /** The tensor as the file describes it. */
  readonly entry: TensorEntry;
  /** The parts of the buffer that holds it. */
  readonly layout: SplitLayout;
}

/**
 * Distributes a tensor by the first rule that matches its name.
 *
 * @throws RangeError when no rule matches it, or it lacks the rule's axis; the message names the
 *   tensor.
 */
export function distribute(
  entry: TensorEntry,
  { place, count }: { readonly place: readonly PlacementRule[]; readonly count: number },
): DistributedTensor {
  const rule = place.find(([name]) => hasName(name, entry.name));
  const name = visibleText(entry.name);
  if (rule === undefined) {
    const [part] = place.find(([text]) => typeof text === "string" && entry.name.includes(text)) ??
      [];
    const hint = part === undefined ? "" : `: "${part}" is a part of it, write /${part}/`;
    throw new RangeError(
      `Cannot place tensor "${name}": no rule has its name${hint}; a last one for all others is ` +
        `[/./, "replicate"]`,
    );
  }
  const { shape } = entry;
  const dtype = typeOf(entry.format);
  const split = axisOf(rule[1], entry);
  return { dtype, shape, entry, layout: splitArray({ dtype, shape, count }, { split }) };
}

/**
 * Checks that every rule matches a tensor: a name with a mistake would be placed by a later rule.
 *
 * @throws RangeError that names the rule.
 */
export function requireUse(
  place: readonly PlacementRule[],
  tensors: readonly TensorEntry[],
): void {
  if (tensors.length === 0) return;
  const useless = place.find(([rule]) => !tensors.some(({ name }) => hasName(rule, name)));
  if (useless === undefined) return;
  const [rule] = useless;
  const text = visibleText(typeof rule === "string" ? `"${rule}"` : `${rule}`);
  const [first] = tensors;
  throw new RangeError(
    `Cannot place tensors by the rule ${text}: none of ${tensors.length} has such a name, the first ` +
      `is "${visibleText(first?.name ?? "")}"`,
  );
}

function axisOf(placement: Placement, entry: TensorEntry): Split {
  if (placement === "replicate") return placement;
  const { format, shape } = entry;
  const what = `Cannot split tensor "${visibleText(entry.name)}", ${formatShape(format, shape)},`;
  const axis = resolveStep(placement.split, shape.length);
  if (axis === undefined) {
    throw new RangeError(
      `${what} along axis ${placement.split}: it has ${formatAxes(shape)}`,
    );
  }
  return axis;
}

/** search() and not test(): a pattern with the flag "g" would remember its last position. */
function hasName(pattern: RegExp | string, name: string): boolean {
  return typeof pattern === "string" ? pattern === name : name.search(pattern) >= 0;
}

function isRule(value: unknown): value is PlacementRule {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [name, placement]: unknown[] = value;
  return (typeof name === "string" || name instanceof RegExp) && isPlacement(placement);
}

function isPlacement(value: unknown): value is Placement {
  if (value === "replicate") return true;
  return isRecord(value) && Object.keys(value).length === 1 && typeof value["split"] === "number";
}
