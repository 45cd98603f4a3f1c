// Arithmetic on shapes: sizes along each axis, outermost first, elements contiguous.

import { describeType, type DType, elementBytes, insideByte } from "../dtype.ts";
import { checkSize, describeValue } from "../words/format.ts";

/** Size of each axis, outermost first. */
export type Shape = readonly number[];

/**
 * Returns the shape that a caller passed: a list of sizes, or one number.
 *
 * @throws RangeError when a size is negative, fractional or NaN, or the product passes 2^53 - 1.
 * @throws TypeError when it is something else, which is possible only without type checks.
 */
export function toShape(shape: number | Shape): Shape {
  if (typeof shape !== "number" && !Array.isArray(shape)) {
    throw new TypeError(
      `Cannot use ${describeValue(shape)} as a shape: expected a length, or a list of sizes such ` +
        "as [2, 3]",
    );
  }
  const sizes = typeof shape === "number" ? [shape] : [...shape];
  for (const size of sizes) {
    if (size === -1) {
      throw new RangeError(
        "Cannot use shape -1: only reshape() works out a size, as in x.reshape([-1, 4])",
      );
    }
    checkSize(size, "shape");
  }
  checkSize(countOf(sizes), "element count");
  return Object.freeze(sizes);
}

/**
 * Returns the shape of a request for memory. Checks the element type first, because a caller who
 * left it out passes the shape in its place.
 *
 * @throws TypeError when the element type or the shape is not one.
 * @throws RangeError as `toShape()`.
 */
export function requestedShape(
  { dtype, shape }: { readonly dtype: DType; readonly shape: number | Shape },
): Shape {
  if (typeof dtype === "string") elementBytes(dtype);
  else {
    throw new TypeError(
      `Cannot use ${describeType(dtype)} as an element type: it comes before the shape, as in ` +
        'gpu.alloc("float32", [2, 3])',
    );
  }
  return toShape(shape);
}

/** Returns the number of elements of a shape. */
export function countOf(shape: Shape): number {
  let count = 1;
  // By index, because `for...of` over a frozen array takes three times as long.
  for (let axis = 0; axis < shape.length; axis++) count *= shape[axis] ?? 0;
  return count;
}

/**
 * Returns the number of bytes that the elements of a shape take.
 *
 * @throws RangeError when they pass 2^53 - 1, or packed elements end inside a byte.
 */
export function byteLengthOf(dtype: DType, shape: Shape): number {
  const bytes = countOf(shape) * elementBytes(dtype);
  if (bytes % 1 !== 0) throw insideByte(dtype, `make ${formatShape(dtype, shape)}`);
  return checkSize(bytes, "byte length");
}

/**
 * Returns the number of elements that so many bytes make.
 *
 * @throws RangeError when it is not whole; `action` are the words after "Cannot".
 */
export function elementsIn(
  byteLength: number,
  dtype: DType,
  action: { toString(): string },
): number {
  const bytes = elementBytes(dtype);
  if (byteLength % bytes === 0) return byteLength / bytes;
  throw new RangeError(`Cannot ${action}: they do not divide into elements of ${bytes} bytes`);
}

/** Formats an element type and a shape: `"float32[2, 3]"`. */
export function formatShape(dtype: string, shape: Shape): string {
  return `${dtype}[${shape.join(", ")}]`;
}

/** Formats the number of axes of a shape: `"1 axis"`, `"3 axes"`. */
export function formatAxes({ length }: Shape): string {
  return length === 1 ? "1 axis" : `${length} axes`;
}

/** Resolves `start` and `end` as TypedArray.subarray does: from the end if negative, clamped. */
export function resolveRange(
  length: number,
  range: { start?: number | undefined; end?: number | undefined },
): { start: number; end: number } {
  const start = resolveIndex(range.start ?? 0, length);
  const end = resolveIndex(range.end ?? length, length);
  return { start, end: Math.max(start, end) };
}

/** Resolves an index, negative ones from the end; undefined when it is no place of the axis. */
export function resolveStep(index: number, size: number): number | undefined {
  if (!Number.isInteger(index)) return undefined;
  const step = index < 0 ? index + size : index;
  return step >= 0 && step < size ? step : undefined;
}

/** Returns the valid indices along an axis in words, for an error about another one. */
export function expectedSteps(size: number): string {
  return size === 0 ? "there is none" : `expected a whole number from ${-size} to ${size - 1}`;
}

function resolveIndex(index: number, length: number): number {
  if (typeof index !== "number") {
    throw new TypeError(`Cannot use ${describeValue(index)} as an index: expected a number`);
  }
  const whole = Math.trunc(index) || 0;
  return whole < 0 ? Math.max(length + whole, 0) : Math.min(whole, length);
}
