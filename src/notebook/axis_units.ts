// The unit in which an axis reads best, so that its numbers stay short: 1.5 GiB, 20 ms.

/** A unit and how much of the base unit it is. */
export interface AxisUnit {
  /** Its name in titles. */
  readonly name: string;
  /** Bytes or seconds of one unit. */
  readonly size: number;
}

const BYTE_UNITS: readonly AxisUnit[] = [
  { name: "B", size: 1 },
  { name: "KiB", size: 2 ** 10 },
  { name: "MiB", size: 2 ** 20 },
  { name: "GiB", size: 2 ** 30 },
];

const SECOND_UNITS: readonly AxisUnit[] = [
  { name: "µs", size: 1e-6 },
  { name: "ms", size: 1e-3 },
  { name: "s", size: 1 },
  { name: "min", size: 60 },
];

/** Chooses the unit of sizes for an axis that reaches up to `largest` bytes. */
export function byteUnit(largest: number): AxisUnit {
  return largestBelow(BYTE_UNITS, largest);
}

/** Chooses the unit of times for an axis that reaches up to `largest` seconds. */
export function secondUnit(largest: number): AxisUnit {
  return largestBelow(SECOND_UNITS, largest / 3);
}

function largestBelow(units: readonly AxisUnit[], amount: number): AxisUnit {
  return units.findLast(({ size }) => size <= amount) ?? units[0] as AxisUnit;
}
