// The arithmetic of views: the bytes and the shape of a part of a buffer. Everything here is a pure
// function; the buffer makes the view from the answer.

import { alignmentOf, type DType, elementBytes, insideByte } from "../dtype.ts";
import { describeNumber, describeNumbers } from "../words/format.ts";
import { countOf, expectedSteps, resolveRange, resolveStep, type Shape, toShape } from "./shape.ts";

/** The properties of a buffer from which a view is computed. */
interface Viewed {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly length: number;
  readonly byteLength: number;
  /** Offset in bytes from the start of the block. */
  readonly byteOffset: number;
  toString(): string;
}

/** Offset and shape of a view. */
export interface ViewPlace {
  readonly byteOffset: number;
  readonly shape: Shape;
}

/**
 * Rejects several indices or sizes, which mean axes or a shape in other libraries: notebooks have no
 * compiler to reject them, and a second number must not be ignored.
 *
 * @throws TypeError with the calls that were probably meant.
 */
export function rejectAxes(
  viewed: object,
  call: "view" | "at" | "reshape",
  given: readonly unknown[],
): never {
  const words = given.map(describeNumber);
  const [first, second] = words;
  const list = `reshape(${describeNumbers(given)})`;
  const shaped = "reshape" in viewed ? `, ${list} changes the shape` : "";
  const meant = {
    view: `it takes the index of a row; view(${first}).view(${second}) goes by axes${shaped}`,
    at: onlyFlat(given),
    reshape: `it takes one list of sizes, such as ${list}`,
  };
  throw new TypeError(`Cannot call ${call}(${words.join(", ")}) on ${viewed}: ${meant[call]}`);
}

function onlyFlat(given: readonly unknown[]): string {
  const [first, second] = given.map(describeNumber);
  return `it takes an index of the flat buffer; view(${first}).at(${second}) goes by axes`;
}

/**
 * Resolves the index of a row, a part along the outermost axis; a negative one counts from the end.
 *
 * @throws RangeError when there is no such row.
 */
export function rowIndex(viewed: Pick<Viewed, "shape" | "toString">, index: number): number {
  const rowCount = viewed.shape[0] ?? 0;
  const row = resolveStep(index, rowCount);
  if (row !== undefined) return row;
  if (isPair(index)) rejectAxes(viewed, "view", index);
  throw new RangeError(
    `Cannot view row ${describeNumber(index)} of ${viewed}: ${expectedSteps(rowCount)}`,
  );
}

/** Returns the place of one row. */
export function rowAt(viewed: Viewed, index: number): ViewPlace {
  const { shape } = viewed;
  const row = rowIndex(viewed, index);
  const rest: number[] = [];
  // A loop, because `slice()` of a frozen array takes three times as long.
  for (let axis = 1; axis < shape.length; axis++) rest.push(shape[axis] ?? 0);
  Object.freeze(rest);
  return { byteOffset: byteOffsetOf(viewed, row * countOf(rest)), shape: rest };
}

/**
 * Returns the place of the rows `start` to `end` along the outermost axis, clamped to the buffer as by
 * TypedArray.subarray.
 *
 * @throws RangeError when the buffer has no axis.
 */
export function rowsOf(viewed: Viewed, range: Parameters<typeof resolveRange>[1]): ViewPlace {
  const [rowCount, ...rest] = viewed.shape;
  if (rowCount === undefined) throw new RangeError(`Cannot view rows of ${viewed}: it has no axis`);
  const { start, end } = resolveRange(rowCount, range);
  const byteOffset = byteOffsetOf(viewed, start * countOf(rest));
  return { byteOffset, shape: Object.freeze([end - start, ...rest]) };
}

/** Returns the place of the elements `start` to `end`, clamped as by TypedArray.subarray. */
export function rangeOf(viewed: Viewed, range: Parameters<typeof resolveRange>[1]): ViewPlace {
  const { start, end } = resolveRange(viewed.length, range);
  return { byteOffset: byteOffsetOf(viewed, start), shape: Object.freeze([end - start]) };
}

/**
 * Returns the place of the same elements in another shape; a size of -1 is computed from the
 * others.
 *
 * @throws RangeError when the shape has another number of elements.
 */
export function reshaped(viewed: Viewed, shape: number | Shape): ViewPlace {
  const sizes = toShape(withRest(viewed, shape));
  if (countOf(sizes) !== viewed.length) {
    throw new RangeError(
      `Cannot reshape ${viewed} to [${sizes.join(", ")}]: ${viewed.length} elements are not ` +
        `${countOf(sizes)}`,
    );
  }
  return { byteOffset: viewed.byteOffset, shape: sizes };
}

/** Replaces a -1 with the size that is left; a shape without one stays as it is. */
function withRest(viewed: Viewed, shape: number | Shape): number | Shape {
  if (shape === -1) return viewed.length;
  if (!Array.isArray(shape) || !shape.includes(-1)) return shape;
  const words = `Cannot reshape ${viewed} to ${describeNumbers(shape)}`;
  const known = shape.filter((size) => size !== -1);
  if (known.length < shape.length - 1) {
    throw new RangeError(`${words}: only one size can be -1`);
  }
  const rest = viewed.length / (countOf(known) || Infinity);
  if (known.includes(0)) {
    throw new RangeError(`${words}: beside a size of 0, -1 can be any size`);
  }
  if (Number.isInteger(rest)) return shape.map((size) => size === -1 ? rest : size);
  throw new RangeError(`${words}: ${viewed.length} elements do not divide by ${countOf(known)}`);
}

/**
 * Returns the shape of the same bytes as another element type: flat unless the sizes match.
 *
 * @throws RangeError when the bytes are not a whole number of elements, or are misaligned for them.
 */
export function shapeAs(viewed: Viewed, dtype: DType): Shape {
  const bytes = elementBytes(dtype);
  const { byteLength, byteOffset } = viewed;
  if (byteLength % bytes !== 0 || byteOffset % alignmentOf(dtype) !== 0) {
    throw new RangeError(
      `Cannot view ${viewed} as ${dtype}: ${byteLength} bytes at offset ${byteOffset} ` +
        `do not divide into elements of ${bytes} bytes`,
    );
  }
  if (bytes === elementBytes(viewed.dtype)) return viewed.shape;
  return Object.freeze([byteLength / bytes]);
}

/**
 * Checks a place to split at.
 *
 * @throws RangeError when it is not a whole number from 0 to the length.
 */
export function checkSplit(viewed: Viewed, at: number): void {
  if (Number.isInteger(at) && at >= 0 && at <= viewed.length) return;
  const expected = `expected a whole number up to ${viewed.length}`;
  throw new RangeError(`Cannot split ${viewed} at ${describeNumber(at)}: ${expected}`);
}

/**
 * Checks the length of chunks to walk in.
 *
 * @throws RangeError when it is not a whole number of at least 1.
 */
export function checkChunk(viewed: Viewed, length: number): void {
  if (Number.isInteger(length) && length > 0) return;
  const expected = "expected a whole number from 1 on";
  throw new RangeError(`Cannot walk ${viewed} in chunks of ${describeNumber(length)}: ${expected}`);
}

/**
 * Resolves the index of one flat element; a negative one counts from the end.
 *
 * @throws RangeError when there is no such element.
 */
export function elementIndex(
  viewed: Pick<Viewed, "length" | "toString">,
  index: number,
): number {
  const { length } = viewed;
  const whole = resolveStep(index, length);
  if (whole !== undefined) return whole;
  if (isPair(index)) {
    throw new TypeError(
      `Cannot reach element ${describeNumbers(index)} of ${viewed}: ${onlyFlat(index)}`,
    );
  }
  throw new RangeError(
    `Cannot reach element ${describeNumber(index)} of ${viewed}: ${expectedSteps(length)}`,
  );
}

/** Returns whether a value is a list of several indices, which the compiler would refuse. */
function isPair(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 1;
}

function byteOffsetOf(viewed: Viewed, start: number): number {
  const offset = viewed.byteOffset + start * elementBytes(viewed.dtype);
  if (offset % 1 !== 0) throw insideByte(viewed.dtype, `view ${viewed} from element ${start} on`);
  return offset;
}

const names = new WeakMap<object, string>();

export function nameView<V extends object>(view: V, name: string): V {
  names.set(view, name);
  return view;
}

/** Returns the name that a view was given, if any. */
export function viewNameOf(view: object): string | undefined {
  return names.get(view);
}
