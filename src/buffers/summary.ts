// A summary of a buffer's values: lowest, highest, mean and a histogram, over a sample of them.

import { nameOf } from "../accounting/ledger.ts";
import type { DType } from "../dtype.ts";
import { Parts, partsOf } from "../words/parts.ts";
import { formatShape } from "./shape.ts";
import type { GpuBuffer } from "./gpu_buffer.ts";
import type { TransferChoice } from "../transfer/transfer_choice.ts";

/**
 * A summary of a buffer's values, as `buffer.describe()` returns it: lowest, highest, mean and a
 * histogram. Large buffers are sampled.
 */
export class BufferSummary {
  /** The buffer's name. */
  readonly name: string;
  /** The buffer's element type and shape, as `float32[2, 3]`. */
  readonly type: string;
  /** Number of elements in the buffer. */
  readonly length: number;
  /** Number of elements in the sample. */
  readonly sampleCount: number;
  /** Number of sampled elements that are NaN or infinite; the other values leave them out. */
  readonly nonFiniteCount: number;
  /** Number of sampled elements that are zero. */
  readonly zeroCount: number;
  /** The lowest value; null when none was finite. */
  readonly lowest: number | null;
  /** The highest value; null when none was finite. */
  readonly highest: number | null;
  /** The mean; null when none was finite. */
  readonly mean: number | null;
  /** Number of values in each of equally wide bins, from the lowest value to the highest. */
  readonly histogram: readonly number[];

  /**
   * Takes over values.
   *
   * @ignore
   */
  constructor(parts: Parts<BufferSummary>) {
    const found = partsOf(parts, new.target);
    this.name = found.name;
    this.type = found.type;
    this.length = found.length;
    this.sampleCount = found.sampleCount;
    this.nonFiniteCount = found.nonFiniteCount;
    this.zeroCount = found.zeroCount;
    this.lowest = found.lowest;
    this.highest = found.highest;
    this.mean = found.mean;
    this.histogram = found.histogram;
  }
}

/** Number of elements to sample: all of a small buffer, evenly spread pieces of a larger one. */
const SAMPLE_LENGTH = 65_536;
const PIECE_LENGTH = 1024;
const BIN_COUNT = 48;

/** Copies a sample of the values to the host, at most 512 KiB, and summarises it. */
export async function summarise<D extends DType>(
  buffer: GpuBuffer<D>,
  options: TransferChoice,
): Promise<BufferSummary> {
  const pieces = await Promise.all(
    pieceStarts(buffer.length).map(({ start, end }) =>
      buffer.subarray(start, end).download(undefined, options)
    ),
  );
  const values = pieces.flatMap((piece) => Array.from(piece as ArrayLike<number | bigint>, Number));
  const finite = values.filter(Number.isFinite);
  const lowest = finite.reduce((a, b) => Math.min(a, b), Infinity);
  const highest = finite.reduce((a, b) => Math.max(a, b), -Infinity);
  const hasFinite = finite.length > 0;
  return new BufferSummary(
    new Parts({
      name: nameOf({ label: buffer.label, kind: buffer.kind, id: buffer.storageId }),
      type: formatShape(buffer.dtype, buffer.shape),
      length: buffer.length,
      sampleCount: values.length,
      nonFiniteCount: values.length - finite.length,
      zeroCount: finite.filter((value) => value === 0).length,
      lowest: hasFinite ? lowest : null,
      highest: hasFinite ? highest : null,
      mean: hasFinite ? finite.reduce((sum, value) => sum + value / finite.length, 0) : null,
      histogram: hasFinite ? countBins(finite, { lowest, highest }) : [],
    }),
  );
}

function pieceStarts(length: number): { start: number; end: number }[] {
  if (length <= SAMPLE_LENGTH) return length === 0 ? [] : [{ start: 0, end: length }];
  const count = SAMPLE_LENGTH / PIECE_LENGTH;
  return Array.from({ length: count }, (_, index) => {
    const start = Math.floor((length - PIECE_LENGTH) * index / (count - 1));
    return { start, end: start + PIECE_LENGTH };
  });
}

function countBins(
  values: readonly number[],
  { lowest, highest }: { readonly lowest: number; readonly highest: number },
): number[] {
  const counts: number[] = Array(BIN_COUNT).fill(0);
  const width = (highest - lowest) / BIN_COUNT;
  for (const value of values) {
    const bin = width > 0 ? Math.min(BIN_COUNT - 1, Math.floor((value - lowest) / width)) : 0;
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts;
}
