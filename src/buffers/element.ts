// Converts JavaScript values to the bytes of elements, checked to fit their type, and back.

import type { ElementBits } from "../copies/fill.ts";
import {
  allocateBits,
  type DType,
  elementBytes,
  fromBfloat16,
  type HostArray,
  type ScalarOf,
  toBfloat16,
  viewBits,
} from "../dtype.ts";
import { describeValue } from "../words/format.ts";

/** The range of whole numbers that a type holds; bigints where numbers are not exact. */
interface IntegerRange {
  readonly lowest: number | bigint;
  readonly highest: number | bigint;
}

const INTEGER_RANGES: Partial<Record<DType, IntegerRange>> = {
  int8: rangeOf(8, { isSigned: true }),
  int16: rangeOf(16, { isSigned: true }),
  int32: rangeOf(32, { isSigned: true }),
  int64: rangeOf(64, { isSigned: true }),
  uint8: rangeOf(8, { isSigned: false }),
  uint16: rangeOf(16, { isSigned: false }),
  uint32: rangeOf(32, { isSigned: false }),
  uint64: rangeOf(64, { isSigned: false }),
};

/** One element at a time is encoded here: an array for it takes longer than to queue a fill. */
const CELL = new ArrayBuffer(8);
const CELL_BYTES = new Uint8Array(CELL);
const CELL_WORDS = new Uint32Array(CELL);

/** The element as an array of each type that was used. */
const cells = new Map<DType, HostArray>();

/**
 * Encodes one element.
 *
 * @throws TypeError when the value is of the wrong JavaScript type.
 * @throws RangeError when an integer does not fit.
 */
export function elementOf(dtype: DType, value: number | bigint | boolean): Uint8Array<ArrayBuffer> {
  encode(dtype, value);
  return CELL_BYTES.slice(0, elementBytes(dtype));
}

/**
 * Encodes one element for a fill.
 *
 * @throws TypeError when the value is of the wrong JavaScript type.
 * @throws RangeError when an integer does not fit.
 */
export function elementBitsOf(dtype: DType, value: number | bigint | boolean): ElementBits {
  encode(dtype, value);
  const [low = 0, high = 0] = CELL_WORDS;
  return { byteLength: elementBytes(dtype), low, high };
}

function encode(dtype: DType, value: number | bigint | boolean): void {
  checkValue(dtype, value);
  CELL_WORDS[0] = CELL_WORDS[1] = 0;
  const cell = cells.getOrInsertComputed(dtype, () => viewBits(dtype, { buffer: CELL, length: 1 }));
  if (dtype === "bfloat16") cell[0] = toBfloat16([Number(value)])[0] ?? 0;
  else cell[0] = dtype === "bool" ? truthOf(value) : value as number;
}

/**
 * Encodes elements, bit for bit.
 *
 * @throws TypeError when a value is of the wrong JavaScript type.
 * @throws RangeError when an integer does not fit.
 */
export function elementsOf(
  dtype: DType,
  values: readonly (number | bigint | boolean)[],
): HostArray {
  for (const value of values) checkValue(dtype, value);
  if (dtype === "bfloat16") return toBfloat16(values as readonly number[]);
  const array = allocateBits(dtype, values.length);
  const plain = dtype === "bool" ? values.map(truthOf) : values;
  (array as { set(values: ArrayLike<unknown>): void }).set(plain);
  return array;
}

/** Returns the byte of a truth value: 1 for every number but 0. */
function truthOf(value: number | bigint | boolean): 0 | 1 {
  return Number(value) === 0 ? 0 : 1;
}

/** Decodes one element. */
export function scalarOf<D extends DType>(dtype: D, bytes: Uint8Array<ArrayBuffer>): ScalarOf<D> {
  const bits = viewBits<DType>(dtype, { buffer: bytes.buffer, length: 1 });
  const values = dtype === "bfloat16" && bits instanceof Uint16Array ? fromBfloat16(bits) : bits;
  return values[0] as ScalarOf<D>;
}

/** Makes the error of an action on elements of two types. */
export function otherType(action: string): TypeError {
  return new TypeError(
    `Cannot ${action}: element types differ; astype() converts elements, as() shows their bytes ` +
      "as another type",
  );
}

function checkValue(dtype: DType, value: number | bigint | boolean): void {
  const isWide = dtype === "int64" || dtype === "uint64";
  const isTruth = dtype === "bool" && typeof value === "boolean";
  if (!isTruth && typeof value !== (isWide ? "bigint" : "number")) {
    throw new TypeError(
      `Cannot use ${describeValue(value)} as ${dtype}: expected a ` +
        (isWide ? "bigint, such as 1n" : `number${typesOf(value)}`),
    );
  }
  const range = INTEGER_RANGES[dtype];
  if (range === undefined) return;
  const { lowest, highest } = range;
  const isWhole = typeof value === "bigint" ||
    (typeof value === "number" && Number.isInteger(value));
  if (isWhole && value >= lowest && value <= highest) return;
  throw new RangeError(
    `Cannot use ${value} as ${dtype}: expected a whole number from ${lowest} to ${highest}`,
  );
}

/** Names the element types of a value that is no number. */
function typesOf(value: unknown): string {
  if (typeof value === "boolean") return ', or the element type "bool"';
  return typeof value === "bigint" ? ', or the element type "int64" or "uint64"' : "";
}

function rangeOf(bits: number, { isSigned }: { readonly isSigned: boolean }): IntegerRange {
  const highest = 2n ** BigInt(isSigned ? bits - 1 : bits) - 1n;
  const lowest = isSigned ? -highest - 1n : 0n;
  return bits === 64 ? { lowest, highest } : { lowest: Number(lowest), highest: Number(highest) };
}
