// Arithmetic on strided layouts: how far a step along each axis goes, counted in elements.

import { describeNumber, describeNumbers, describeValue } from "../words/format.ts";
import { LIST, NUMBER, OptionSet, SHAPE } from "../words/options.ts";
import { countOf, type Shape } from "./shape.ts";

/** A layout of a buffer's elements in any order: the first element, and the step of each axis. */
export interface StridedLayout {
  /** Size of each axis, outermost first. */
  readonly shape: Shape;
  /** Elements from one step to the next along each axis; 0 repeats, negative goes backwards. */
  readonly strides: readonly number[];
  /** Index of the first element in the buffer. */
  readonly offset: number;
}

/** Checks the layout above. */
export const STRIDED_LAYOUT: OptionSet<StridedLayout> = new OptionSet({
  shape: SHAPE,
  strides: LIST,
  offset: NUMBER,
});

/** Part of one axis. */
export interface AxisRange {
  /** The first position; negative counts from the end. */
  readonly start?: number | undefined;
  /** The position after the last; negative counts from the end. */
  readonly end?: number | undefined;
  /** Distance between the positions; 1 by default. A negative one walks from the last to the first. */
  readonly step?: number | undefined;
}

/** Returns the strides of contiguous elements, the last axis fastest. */
export function contiguousStrides(shape: Shape): number[] {
  const strides: number[] = Array(shape.length);
  let stride = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= shape[axis] ?? 1;
  }
  return strides;
}

/**
 * Checks that a layout stays inside `length` elements.
 *
 * @throws RangeError when it leaves them, or when shape and strides have different lengths.
 */
export function checkLayout(layout: StridedLayout, length: number, of: unknown): void {
  const { shape, strides, offset } = layout;
  if (strides.length !== shape.length) {
    throw new RangeError(
      `Cannot view ${of} by strides ${describeNumbers(strides)}: expected ${shape.length}, one ` +
        "for each axis",
    );
  }
  if (!areWhole(strides) || !areWhole(shape) || !Number.isSafeInteger(offset)) {
    throw new RangeError(
      `Cannot view ${of} as ${describeNumbers(shape)} by strides ${describeNumbers(strides)} ` +
        `from ${offset}: expected whole numbers`,
    );
  }
  const isEmpty = countOf(shape) === 0;
  const { lowest, highest } = isEmpty
    ? { lowest: offset, highest: offset - 1 }
    : reach({ shape, strides, offset });
  if (lowest >= 0 && highest < length && offset <= length) return;
  throw new RangeError(
    `Cannot view ${of} as [${shape.join(", ")}] by strides [${strides.join(", ")}] from ` +
      `${offset}: it reaches elements ${lowest} to ${highest} of ${length}`,
  );
}

/** Returns whether the elements are contiguous, the last axis fastest. */
export function isContiguous({ shape, strides }: StridedLayout): boolean {
  if (countOf(shape) === 0) return true;
  const wanted = contiguousStrides(shape);
  return shape.every((size, axis) => size === 1 || strides[axis] === wanted[axis]);
}

/** Returns whether certainly no two elements share memory, so that they can be written in any order. */
export function isDistinct({ shape, strides }: StridedLayout): boolean {
  if (countOf(shape) === 0) return true;
  const axes = shape
    .map((size, axis) => ({ size, stride: Math.abs(strides[axis] ?? 0) }))
    .filter(({ size }) => size > 1)
    .sort((a, b) => a.stride - b.stride);
  let covered = 1;
  for (const { size, stride } of axes) {
    if (stride < covered) return false;
    covered += (size - 1) * stride;
  }
  return true;
}

/**
 * Returns the layout with the axes in another order; reversed by default.
 *
 * @throws RangeError when an axis is missing or named twice.
 */
export function transposed(layout: StridedLayout, order?: readonly number[]): StridedLayout {
  const { shape, strides, offset } = layout;
  if (order === undefined) {
    return { shape: reversed(shape), strides: reversed(strides), offset };
  }
  if (!Array.isArray(order)) {
    throw new TypeError(
      `Cannot order axes by ${describeValue(order)}: expected a list of all, such as ` +
        `[${shape.map((_, axis) => shape.length - 1 - axis).join(", ")}]`,
    );
  }
  if (order.length !== shape.length || shape.some((_, axis) => !order.includes(axis))) {
    throw new RangeError(
      `Cannot order axes ${describeNumbers(order)}: expected each of 0 to ${shape.length - 1} once`,
    );
  }
  return {
    shape: Object.freeze(order.map((axis) => shape[axis] ?? 0)),
    strides: Object.freeze(order.map((axis) => strides[axis] ?? 0)),
    offset,
  };
}

/**
 * Returns every `step`-th position of one axis, by the rules of Array.slice; a negative step walks
 * the range from its end.
 *
 * @throws RangeError when there is no such axis, or the step is 0 or not a whole number.
 */
export function stepped(
  layout: StridedLayout,
  axis: number,
  range: { start: number; end: number; step: number },
): StridedLayout {
  const { shape, strides, offset } = layout;
  const stride = typeof axis === "number" ? strides[axis] : undefined;
  if (stride === undefined) {
    throw new RangeError(
      `Cannot step along axis ${describeNumber(axis)}: ` +
        (shape.length === 0 ? "there is none" : `expected 0 to ${shape.length - 1}`),
    );
  }
  const { start, end, step } = range;
  if (!Number.isInteger(step) || step === 0) {
    throw new RangeError(`Cannot step by ${step}: expected a whole number other than 0`);
  }
  const size = Math.ceil((end - start) / Math.abs(step));
  // An empty part starts where the view does, because its own start may lie behind the last element.
  const first = size === 0 ? 0 : step > 0 ? start : end - 1;
  const part = Object.freeze(shape.with(axis, size));
  return {
    shape: part,
    strides: Object.freeze(strides.with(axis, stride * step)),
    offset: countOf(part) === 0 ? offset : offset + first * stride,
  };
}

/** Returns the layout without one axis, at one position of it. */
export function withoutAxis(layout: StridedLayout, axis: number, step: number): StridedLayout {
  const { shape, strides, offset } = layout;
  const part = Object.freeze(shape.toSpliced(axis, 1));
  return {
    shape: part,
    strides: Object.freeze(strides.toSpliced(axis, 1)),
    offset: countOf(part) === 0 ? offset : offset + step * (strides[axis] ?? 0),
  };
}

/** By index, because every() takes five times as long, and for...of over frozen arrays three times. */
function areWhole(values: readonly number[]): boolean {
  for (let at = 0; at < values.length; at++) if (!Number.isSafeInteger(values[at])) return false;
  return true;
}

/** A loop, because toReversed() of a frozen array takes three times as long. */
function reversed(values: readonly number[]): readonly number[] {
  const result: number[] = [];
  for (let at = values.length - 1; at >= 0; at--) result.push(values[at] ?? 0);
  return Object.freeze(result);
}

function reach({ shape, strides, offset }: StridedLayout): { lowest: number; highest: number } {
  let [lowest, highest] = [offset, offset];
  for (let axis = 0; axis < strides.length; axis++) {
    const distance = ((shape[axis] ?? 1) - 1) * (strides[axis] ?? 0);
    if (distance < 0) lowest += distance;
    else highest += distance;
  }
  return { lowest, highest };
}

/** One term of a sum: `0` to `count - 1` times `stride`. */
interface Term {
  readonly stride: number;
  readonly count: number;
}

/** Steps after which the search gives up; the layouts then count as overlapping. */
const MAX_STEPS = 10_000;

/** Returns whether two layouts share an element; also true when finding out would take too long. */
export function sharesElement(a: StridedLayout, b: StridedLayout): boolean {
  if (countOf(a.shape) === 0 || countOf(b.shape) === 0) return false;
  // An element is shared when a step of `a` and a step of `b` meet: their difference is a sum of
  // multiples of all strides, each of which can be turned to run upwards.
  let distance = b.offset - a.offset;
  const terms: Term[] = [];
  for (const { stride, count } of [...termsOf(a, 1), ...termsOf(b, -1)]) {
    if (stride < 0) distance -= stride * (count - 1);
    if (stride !== 0 && count > 1) terms.push({ stride: Math.abs(stride), count });
  }
  terms.sort((first, second) => second.stride - first.stride);
  const budget = { steps: MAX_STEPS };
  return canReach(distance, terms, budget) || budget.steps <= 0;
}

function termsOf({ shape, strides }: StridedLayout, sign: number): Term[] {
  return shape.map((count, axis) => ({ stride: sign * (strides[axis] ?? 0), count }));
}

/** Returns whether multiples of the terms add up to a sum; the largest stride leaves few choices. */
function canReach(sum: number, terms: readonly Term[], budget: { steps: number }): boolean {
  const [term, ...rest] = terms;
  if (term === undefined) return sum === 0;
  const restReach = rest.reduce((reach, { stride, count }) => reach + stride * (count - 1), 0);
  const fewest = Math.max(0, Math.ceil((sum - restReach) / term.stride));
  const most = Math.min(term.count - 1, Math.floor(sum / term.stride));
  for (let times = fewest; times <= most && budget.steps > 0; times++) {
    budget.steps--;
    if (canReach(sum - times * term.stride, rest, budget)) return true;
  }
  return false;
}
