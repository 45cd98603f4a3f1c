// Numbers in arrays, nested arrays and iterables, as the typed array that an upload takes.

import { allocateBits, type DType, dtypeOf, type HostArray, type HostValue } from "../dtype.ts";
import { formatCount } from "../words/format.ts";
import { isIterable } from "../words/options.ts";
import { elementsOf } from "./element.ts";
import type { Shape } from "./shape.ts";

/**
 * Numbers in an iterable; nested arrays, typed ones too, and other iterables give them a shape. Strings,
 * typed arrays and buffers look like iterables as well and are not accepted: `object` excludes the first,
 * and the properties the others.
 */
export type HostValues<V extends HostValue = HostValue> =
  & Iterable<V | HostValues<V> | Iterable<V> & ArrayBufferView>
  & object
  & { readonly BYTES_PER_ELEMENT?: never; readonly storageId?: never };

/** Bytes or plain numbers: unlike typed arrays they do not tell their element type. */
export type UntypedSource<D extends DType = DType> =
  | ArrayBuffer
  | SharedArrayBuffer
  | DataView
  | HostValues<HostValue<D>>;

/** Values in a typed array, bit for bit. */
interface PackedValues {
  /** The elements (small floats: their bits). */
  readonly array: HostArray;
  /** The other element types that typed arrays among them stand for. */
  readonly rowTypes: ReadonlySet<DType>;
  /** Size of each axis, as the arrays are nested. */
  readonly shape: Shape;
  readonly values: readonly HostValue[];
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
  const rows = Array.isArray(values) ? packRows(values, dtype) : undefined;
  if (rows !== undefined) return rows;
  const rowTypes = new Set<DType>();
  const list = listOf(values, { depth: 1, rowTypes });
  const shape = shapeOf(list);
  const flat: HostValue[] = [];
  flatten(list, { shape, into: flat });
  rowTypes.delete(dtype);
  return { array: elementsOf(dtype, flat), shape, values: flat, rowTypes };
}

/** Packs rows of the element type, row by row; undefined where one of them is anything else. */
function packRows(values: readonly unknown[], dtype: DType): PackedValues | undefined {
  const isRow = (row: unknown) => ArrayBuffer.isView(row) && dtypeOf(row) === dtype;
  if (values.findIndex((row) => !isRow(row)) !== -1) return undefined; // every() passes over holes
  const rows = values as readonly HostArray[];
  const [first] = rows;
  if (first === undefined) return undefined;
  const array = allocateBits(dtype, rows.length * first.length);
  for (const [index, row] of rows.entries()) {
    requireSize(row.length, first.length);
    (array as { set(row: ArrayLike<unknown>, at: number): void }).set(row, index * first.length);
  }
  return { array, shape: [rows.length, first.length], values: [], rowTypes: new Set() };
}

/** The class that all typed arrays share. */
const TYPED_ARRAY = Object.getPrototypeOf(Uint8Array) as new () => object;

/** The most axes that nested arrays give; numpy's limit. */
const MAX_AXES = 64;

/**
 * Converts iterables to nested arrays, and notes the element types of the innermost ones; walks each
 * one once, because some can be walked only once.
 */
function listOf(
  values: HostValues,
  { depth, rowTypes }: { readonly depth: number; readonly rowTypes: Set<DType> },
): readonly unknown[] {
  if (depth > MAX_AXES) {
    throw new RangeError(
      `Cannot upload nested arrays: they are nested deeper than ${MAX_AXES} axes, or one contains itself`,
    );
  }
  const list: readonly unknown[] = Array.isArray(values) ? values : [...values];
  if (list.some(isNested)) {
    const inner = { depth: depth + 1, rowTypes };
    return list.map((value) => isNested(value) ? listOf(value, inner) : value);
  }
  const rowType = ArrayBuffer.isView(values) ? dtypeOf(values) : undefined;
  if (rowType !== undefined) rowTypes.add(rowType);
  return list;
}

function isNested(value: unknown): value is HostValues {
  return isIterable(value);
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
  requireSize(list.length, size);
  for (const value of list) {
    if (Array.isArray(value) !== inner.length > 0) {
      throw new RangeError("Cannot upload nested arrays: some values are arrays and some are not");
    }
    if (Array.isArray(value)) flatten(value, { shape: inner, into });
    else into.push(value as HostValue);
  }
}

function requireSize(length: number, size: number | undefined): void {
  if (length === size) return;
  throw new RangeError(
    `Cannot upload nested arrays: one has ${formatCount(length, "value")} where the first has ` +
      `${size}`,
  );
}
