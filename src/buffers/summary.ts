// A summary of a buffer's values: lowest, highest, mean, deviation, quartiles and a histogram, over a
// sample of them, with the error that sampling leaves in the mean.

import type { DType, HostArray } from "../dtype.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";

/**
 * A summary of a buffer's values, as `buffer.describe()` returns it: lowest, highest, mean,
 * deviation, quartiles and a histogram. Large buffers are sampled; `meanError` says how far the
 * mean may be off.
 */
export class BufferSummary {
  /** The buffer's name. */
  declare readonly name: string;
  /** The buffer's element type and shape, as `float32[2, 3]`. */
  declare readonly type: string;
  /** Number of elements in the buffer. */
  declare readonly length: number;
  /** Number of elements in the sample. */
  declare readonly sampleCount: number;
  /** Number of sampled elements that are NaN or infinite, which the other values ignore. */
  declare readonly nonFiniteCount: number;
  /** Number of sampled elements that are zero. */
  declare readonly zeroCount: number;
  /** The lowest value; null when none was finite. */
  declare readonly lowest: number | null;
  /** The highest value; null when none was finite. */
  declare readonly highest: number | null;
  /** The mean; null when none was finite. */
  declare readonly mean: number | null;
  /**
   * Standard error of the mean, from how much the pieces of the sample differ; 0 when all elements
   * were seen, null when none was finite.
   */
  declare readonly meanError: number | null;
  /** The standard deviation; null when none was finite. */
  declare readonly deviation: number | null;
  /** The values below which a quarter, half and three quarters lie; null when none was finite. */
  declare readonly quartiles: readonly [number, number, number] | null;
  /** Number of values in each of equally wide bins, from the lowest value to the highest. */
  declare readonly histogram: readonly number[];

  /** @ignore Takes over values. */
  constructor(parts: Parts<BufferSummary>) {
    Object.assign(this, partsOf(parts, new.target));
  }
}

comesFrom(BufferSummary, "buffer.describe()");

/** Returns the values to describe: of complex numbers the magnitudes. */
export function magnitudesIn(dtype: DType, values: HostArray): HostArray {
  if (dtype !== "complex64") return values;
  const parts = values as Float32Array;
  return Float64Array.from(
    { length: parts.length / 2 },
    (_, at) => Math.hypot(parts[2 * at] ?? 0, parts[2 * at + 1] ?? 0),
  );
}

/** Number of elements to sample: all of a small buffer, evenly spread pieces of a larger one. */
const SAMPLE_LENGTH = 65_536;
const PIECE_LENGTH = 1024;
const BIN_COUNT = 48;

interface SummarySource extends Pick<BufferSummary, "name" | "type" | "length"> {
  /** Copies the elements from `start` to `end` to the host. */
  readonly read: (start: number, end: number) => Promise<HostArray>;
}

/** Copies a sample of the values to the host, at most 512 KiB, and summarises it. */
export async function summarise(
  { name, type, length, read }: SummarySource,
): Promise<BufferSummary> {
  const pieces = await Promise.all(pieceStarts(length).map(({ start, end }) => read(start, end)));
  const lists = pieces.map((piece) => Array.from(piece as ArrayLike<number | bigint>, Number));
  const values = lists.flat();
  const finite = values.filter(Number.isFinite).sort((a, b) => a - b);
  const found = {
    name,
    type,
    length,
    sampleCount: values.length,
    nonFiniteCount: values.length - finite.length,
    zeroCount: finite.filter((value) => value === 0).length,
  };
  const [lowest] = finite;
  const highest = finite.at(-1);
  if (lowest === undefined || highest === undefined) {
    return new BufferSummary(new Parts({ ...found, ...NONE_FINITE }));
  }
  const mean = meanOf(finite);
  return new BufferSummary(
    new Parts({
      ...found,
      lowest,
      highest,
      mean,
      meanError: values.length === length ? 0 : errorOfMean(lists, length),
      deviation: deviationFrom(mean, finite),
      quartiles: [quantile(finite, 0.25), quantile(finite, 0.5), quantile(finite, 0.75)],
      histogram: countBins(finite, { lowest, highest }),
    }),
  );
}

const NONE_FINITE = {
  lowest: null,
  highest: null,
  mean: null,
  meanError: null,
  deviation: null,
  quartiles: null,
  histogram: [],
} as const;

/**
 * Adds the values in a unit in which their sum does not overflow, and then their differences from that
 * mean, which makes up for rounding: equal values have exactly that value as their mean.
 */
function meanOf(values: readonly number[]): number {
  const unit = unitOf(values);
  const rough = values.reduce((sum, value) => sum + value / unit, 0) / values.length;
  const rest = values.reduce((sum, value) => sum + (value / unit - rough), 0) / values.length;
  return withinNumbers((rough + rest) * unit);
}

function deviationFrom(mean: number, values: readonly number[]): number {
  const unit = unitOf(values);
  const squares = values.map((value) => (value / unit - mean / unit) ** 2);
  return withinNumbers(Math.sqrt(meanOf(squares)) * unit);
}

/** Returns the power of two below the largest value: in it neither squares nor widths overflow. */
function unitOf(values: readonly number[]): number {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return largest === 0 ? 1 : 2 ** Math.min(Math.floor(Math.log2(largest)), 1023);
}

/** Clamps a result that rounding pushed beyond the largest number. */
function withinNumbers(value: number): number {
  return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE);
}

/** Returns the linear quantile of sorted values, as NumPy does by default. */
function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? NaN;
  const above = sorted[Math.ceil(at)] ?? NaN;
  const part = at - Math.floor(at);
  const step = above - below;
  if (step === Infinity) return below * (1 - part) + above * part;
  return below + step * part;
}

/** Neighbouring elements resemble each other, so the pieces count as the sample. */
function errorOfMean(pieces: readonly (readonly number[])[], length: number): number {
  const means = pieces.map((piece) => piece.filter(Number.isFinite))
    .filter((piece) => piece.length > 0).map(meanOf);
  if (means.length < 2) return Infinity;
  const middle = meanOf(means);
  const unit = unitOf(means);
  const squares = means.reduce((sum, mean) => sum + (mean / unit - middle / unit) ** 2, 0);
  const unseenShare = 1 - SAMPLE_LENGTH / length;
  return Math.sqrt(unseenShare * squares / (means.length - 1) / means.length) * unit;
}

function pieceStarts(length: number): { start: number; end: number }[] {
  if (length <= SAMPLE_LENGTH) return length === 0 ? [] : [{ start: 0, end: length }];
  const count = SAMPLE_LENGTH / PIECE_LENGTH;
  return Array.from({ length: count }, (_, index) => {
    const start = Math.floor((length - PIECE_LENGTH) * index / (count - 1));
    const whole = start - start % 4; // of packed elements, of which four fill whole bytes
    return { start: whole, end: whole + PIECE_LENGTH };
  });
}

function countBins(
  values: readonly number[],
  { lowest, highest }: { readonly lowest: number; readonly highest: number },
): number[] {
  const counts: number[] = Array(BIN_COUNT).fill(0);
  const unit = unitOf([lowest, highest]);
  const [first, last] = [lowest / unit, highest / unit];
  const width = (last - first) / BIN_COUNT;
  for (const value of values) {
    const bin = width > 0 ? Math.min(BIN_COUNT - 1, Math.floor((value / unit - first) / width)) : 0;
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts;
}
