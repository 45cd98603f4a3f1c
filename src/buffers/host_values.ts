// Numbers in arrays, nested arrays and iterables, as the typed array that an upload takes.

import type { DType, HostArray, ScalarOf } from "../dtype.ts";
import { formatCount } from "../words/format.ts";
import { elementsOf } from "./element.ts";
import type { Shape } from "./shape.ts";

/** A value that an element of `D` takes: a bigint for 64-bit integers, a boolean or a number for bool. */
export type HostValue<D extends DType = DType> = {
  readonly [K in DType]: K extends "bool" ? number | boolean : ScalarOf<K>;
}[D];

/**
 * Numbers in an iterable; nested arrays and other iterables give them a shape. Strings are
 * iterables too and are not accepted: `object` excludes them.
 */
export type HostValues<V extends HostValue = HostValue> = Iterable<V | HostValues<V>> & object;

/** Bytes or plain numbers: unlike typed arrays they do not tell their element type. */
export type UntypedSource<D extends DType = DType> =
  | ArrayBuffer
  | SharedArrayBuffer
  | DataView
  | HostValues<HostValue<D>> & { readonly BYTES_PER_ELEMENT?: never };

/** Values in a typed array, bit for bit. */
export interface PackedValues {
  /** The elements (bfloat16: their bits). */
  readonly array: HostArray;
  /** Size of each axis, as the arrays are nested. */
  readonly shape: Shape;
  /** The values that were given. */
  readonly values: readonly HostValue[];
}

/** Returns whether values are a typed array or raw bytes, and not plain numbers. */
export function isHostMemory<M extends ArrayBufferView | ArrayBuffer | SharedArrayBuffer>(
  values: M | HostValues,
): values is M {
  return ArrayBuffer.isView(values) || values instanceof ArrayBuffer ||
    values instanceof SharedArrayBuffer;
}

/**
 * Packs values into a typed array.
 *
 * @throws RangeError when nested arrays differ in length, or an integer does not fit.
 * @throws TypeError when a value is of the wrong JavaScript type.
 */
export function packValues(values: HostValues, dtype: DType): PackedValues {
  if (values instanceof TYPED_ARRAY) {
    throw new TypeError("Cannot upload: a Proxy of a typed array gives no memory; pass the array");
  }
  const list = listOf(values, 1);
  const shape = shapeOf(list);
  const flat: HostValue[] = [];
  flatten(list, { shape, into: flat });
  return { array: elementsOf(dtype, flat), shape, values: flat };
}

/** The class that all typed arrays share. */
const TYPED_ARRAY = Object.getPrototypeOf(Uint8Array) as new () => object;

/** The most axes that nested arrays give; numpy's limit. */
const MOST_AXES = 64;

/**
 * Converts iterables to nested arrays; walks each one once, because some can be walked only once.
 */
function listOf(values: HostValues, depth: number): readonly unknown[] {
  if (depth > MOST_AXES) {
    throw new RangeError(
      `Cannot upload nested arrays: they are nested deeper than ${MOST_AXES} axes, or one contains itself`,
    );
  }
  const list: readonly unknown[] = Array.isArray(values) ? values : [...values];
  return list.some(isNested)
    ? list.map((value) => isNested(value) ? listOf(value, depth + 1) : value)
    : list;
}

function isNested(value: unknown): value is HostValues {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}

function shapeOf(list: readonly unknown[]): number[] {
  const [first] = list;
  return Array.isArray(first) ? [list.length, ...shapeOf(first)] : [list.length];
}

function flatten(
  list: readonly unknown[],
  { shape, into }: { shape: readonly number[]; into: HostValue[] },
): void {
  const [size, ...inner] = shape;
  if (list.length !== size) {
    throw new RangeError(
      `Cannot upload nested arrays: one has ${formatCount(list.length, "value")} where the ` +
        `first has ${size}`,
    );
  }
  for (const value of list) {
    if (Array.isArray(value) !== inner.length > 0) {
      throw new RangeError("Cannot upload nested arrays: some values are arrays and some are not");
    }
    if (Array.isArray(value)) flatten(value, { shape: inner, into });
    else into.push(value as HostValue);
  }
}
