// Arithmetic on shapes: sizes along each axis, outermost first, elements contiguous.

import { type DType, elementBytes } from "../dtype.ts";
import { checkSize, describeValue } from "../format.ts";

/** Sizes along each axis, outermost first; a number alone is one axis. */
export type Shape = readonly number[];

/**
 * Reads a shape as people pass it.
 *
 * @throws RangeError when a size is negative, fractional or NaN, or the product passes 2^53 - 1.
 */
export function toShape(shape: number | Shape): Shape {
  // What is neither, which only a program without types can pass, is refused as a size.
  const sizes: readonly number[] = Array.isArray(shape) ? [...shape] : [shape as number];
  for (const size of sizes) checkSize(size, "shape");
  checkSize(countOf(sizes), "element count");
  return Object.freeze(sizes);
}

/** How many elements a shape has. */
export function countOf(shape: Shape): number {
  let count = 1;
  // By index, because walking a frozen array takes three times as long.
  for (let axis = 0; axis < shape.length; axis++) count *= shape[axis] ?? 0;
  return count;
}

/**
 * How many bytes the elements of a shape take.
 *
 * @throws RangeError when they pass 2^53 - 1.
 */
export function byteLengthOf(dtype: DType, shape: Shape): number {
  return checkSize(countOf(shape) * elementBytes(dtype), "byte length");
}

/** Writes a type and shape as people read them: `"float32[2, 3]"`. */
export function formatShape(dtype: string, shape: Shape): string {
  return `${dtype}[${shape.join(", ")}]`;
}

/**
 * Resolves `start` and `end` as TypedArray.subarray does: negative counts from the end, and both
 * are clamped to the length.
 */
export function resolveRange(
  length: number,
  range: { start?: number | undefined; end?: number | undefined },
): { start: number; end: number } {
  const start = resolveIndex(range.start ?? 0, length);
  const end = resolveIndex(range.end ?? length, length);
  return { start, end: Math.max(start, end) };
}

/**
 * Finds one step along an axis or one element; a negative index counts from the end. Undefined where
 * there is none, also for what is no whole number.
 */
export function resolveStep(index: number, size: number): number | undefined {
  if (!Number.isInteger(index)) return undefined;
  const step = index < 0 ? index + size : index;
  return step >= 0 && step < size ? step : undefined;
}

function resolveIndex(index: number, length: number): number {
  if (typeof index !== "number") {
    throw new TypeError(`Cannot use ${describeValue(index)} as an index: expected a number`);
  }
  const whole = Math.trunc(index) || 0;
  return whole < 0 ? Math.max(length + whole, 0) : Math.min(whole, length);
}
