// Samples of a measurement: their number, their median and spread, and speeds in GB/s.

import type { CaseSpeed } from "./bandwidth_result.ts";

/** The middle, the least and the most of some samples. */
export interface Spread {
  /** The median; of an even number of samples the larger of the two in the middle. */
  readonly middle: number;
  readonly least: number;
  readonly most: number;
}

/** Returns the spread of at least one sample. */
export function spreadOf(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b);
  const [least = 0] = sorted;
  return { middle: sorted[sorted.length >> 1] ?? 0, least, most: sorted.at(-1) ?? 0 };
}

/** The most samples of a measurement; each takes some memory until the median is known. */
const MAX_SAMPLES = 1_000_000;

/**
 * Checks a number of samples.
 *
 * @throws RangeError when it is not a whole number from 1 to a million.
 */
export function checkSampleCount(sampleCount: number): void {
  if (Number.isInteger(sampleCount) && sampleCount > 0 && sampleCount <= MAX_SAMPLES) return;
  throw new RangeError(
    `Cannot measure bandwidth with ${sampleCount} samples: expected a whole number from 1 to ` +
      `${MAX_SAMPLES}`,
  );
}

/** Returns the speed of bytes that take some time, in GB/s; 0 where no time was measured. */
export function speedOf(byteLength: number, seconds: number): number {
  return byteLength / (seconds || Infinity) / 1e9;
}

/** Returns the speeds of a copy by the spread of its seconds: the longest makes the least of them. */
export function speedsOf(
  byteLength: number,
  { middle, least, most }: Spread,
): Pick<CaseSpeed, "gigabytesPerSecond" | "minGigabytesPerSecond" | "maxGigabytesPerSecond"> {
  return {
    gigabytesPerSecond: speedOf(byteLength, middle),
    minGigabytesPerSecond: speedOf(byteLength, most),
    maxGigabytesPerSecond: speedOf(byteLength, least),
  };
}
