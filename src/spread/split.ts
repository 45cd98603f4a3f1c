// The parts of an array over several devices: the beginning of each along an axis, its shape, and the
// rows of the whole that hold its elements.

import { countOf, formatAxes, formatShape, resolveStep, type Shape } from "../buffers/shape.ts";
import { type DType, elementBytes, insideByte } from "../dtype.ts";
import { formatCount } from "../words/format.ts";
import { eitherOf, listOf, NUMBER, oneOf, type OptionKind } from "../words/options.ts";

/** Distribution of an array: split along an axis, or the whole of it on each device. */
export type Split = number | "replicate";

/** Options for the distribution of an array. */
export interface PartsOptions {
  /**
   * Axis along which the array is split, one part for each device: 0, the rows, by default; negative
   * numbers count from the last. `"replicate"` gives each device the whole array.
   */
  readonly split?: Split | undefined;
  /**
   * Beginnings of the parts along the axis, for each device but the first. By default the parts are
   * equal; if the size cannot be divided evenly, the first ones have one more.
   */
  readonly offsets?: readonly number[] | undefined;
}

/** The kinds of the options above. */
export const SPLIT_KINDS: Readonly<Record<keyof PartsOptions, OptionKind>> = {
  split: eitherOf(
    { ...NUMBER, expected: "the number of an axis, such as 0 for rows" },
    oneOf("replicate"),
  ),
  offsets: listOf(NUMBER),
};

/** Elements in rows at equal distances. */
export interface ElementRows {
  /** Elements before the first row. */
  readonly offset: number;
  readonly length: number;
  /** Elements from the start of a row to the next. */
  readonly pitch: number;
  readonly rowCount: number;
}

export interface PartLayout {
  readonly shape: Shape;
  /** The rows of the whole that it consists of. */
  readonly rows: ElementRows;
}

/** The parts of an array. */
export interface SplitLayout {
  /** The axis, counted from 0, or `"replicate"`. */
  readonly split: Split;
  /** Beginnings of the parts along the axis; all 0 when each device has the whole. */
  readonly offsets: readonly number[];
  readonly parts: readonly PartLayout[];
}

/** An array to distribute. */
export interface SplitSubject {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly count: number;
}

/**
 * Returns the parts of an array, one for each device.
 *
 * @throws RangeError when there is no such axis, or the offsets are not in order inside of it.
 * @throws TypeError when offsets are given for an array that is replicated.
 */
export function splitArray(
  subject: SplitSubject,
  { split = 0, offsets }: PartsOptions,
): SplitLayout {
  const { shape, count } = subject;
  if (split === "replicate") {
    if (offsets !== undefined) {
      throw new TypeError(
        "Cannot replicate an array by offsets: each device has the whole; leave one of them out",
      );
    }
    const length = countOf(shape);
    const part = { shape, rows: { offset: 0, length, pitch: length, rowCount: 1 } };
    const parts = Array.from({ length: count }, () => part);
    return { split, offsets: parts.map(() => 0), parts };
  }
  const axis = resolveStep(split, shape.length);
  if (axis === undefined) {
    throw new RangeError(
      `Cannot split ${formatShape(subject.dtype, shape)} along axis ${split}: it has ` +
        `${formatAxes(shape)}`,
    );
  }
  const size = shape[axis] ?? 0;
  const starts = offsets === undefined
    ? evenStarts(size, count)
    : givenStarts(offsets, { ...subject, axis, size });
  const inner = countOf(shape.slice(axis + 1));
  const rowCount = countOf(shape.slice(0, axis));
  const parts = starts.map((start, part): PartLayout => {
    const length = (starts[part + 1] ?? size) - start;
    if (length * inner * elementBytes(subject.dtype) % 1 !== 0) {
      const what = `split ${formatShape(subject.dtype, shape)} along axis ${axis}`;
      throw insideByte(subject.dtype, what);
    }
    return {
      shape: Object.freeze(shape.with(axis, length)),
      rows: { offset: start * inner, length: length * inner, pitch: size * inner, rowCount },
    };
  });
  return { split: axis, offsets: starts, parts };
}

/** Returns the beginnings of parts of nearly the same size, the larger ones first. */
export function evenStarts(size: number, count: number): number[] {
  const [least, larger] = [Math.floor(size / count), size % count];
  return Array.from({ length: count }, (_, part) => part * least + Math.min(part, larger));
}

function givenStarts(
  offsets: readonly number[],
  { dtype, shape, count, axis, size }: SplitSubject & {
    readonly axis: number;
    readonly size: number;
  },
): number[] {
  const what = `Cannot split ${formatShape(dtype, shape)} along axis ${axis}`;
  if (offsets.length !== count - 1) {
    throw new RangeError(
      `${what} at ${formatCount(offsets.length, "offset")}: ${formatCount(count, "device")} take ` +
        `${formatCount(count - 1, "offset")}, where each part but the first begins`,
    );
  }
  const starts = [0, ...offsets];
  const wrong = starts.find((start, part) => {
    return !Number.isInteger(start) || start < (starts[part - 1] ?? 0) || start > size;
  });
  if (wrong === undefined) return starts;
  throw new RangeError(
    `${what} at ${wrong}: offsets are whole numbers up to ${size}, none before the one before it`,
  );
}
