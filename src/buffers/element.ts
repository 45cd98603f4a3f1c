// Converts JavaScript values to the bytes of elements, checked to fit their type, and back.

import type { ElementBits } from "../copies/fill.ts";
import {
  allocateBits,
  type DType,
  elementBytes,
  type HostArray,
  type HostValue,
  isSmallFloat,
  packLength,
  type ScalarOf,
  smallFloatsOf,
  valuesIn,
  viewBits,
} from "../dtype.ts";
import { describeValue } from "../words/format.ts";
import { isRecord } from "../words/options.ts";

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
export function elementOf(dtype: DType, value: HostValue): Uint8Array<ArrayBuffer> {
  if (packLength(dtype) > 1) {
    throw new TypeError(
      `Cannot write one element of ${dtype}: it shares a byte with others; upload() or set() ` +
        `${packLength(dtype)} at a time`,
    );
  }
  encode(dtype, value);
  return CELL_BYTES.slice(0, elementBytes(dtype));
}

/**
 * Encodes one element for a fill; packed ones as a byte of two, or the 3 bytes of four.
 *
 * @throws TypeError when the value is of the wrong JavaScript type.
 * @throws RangeError when an integer does not fit.
 */
export function elementBitsOf(dtype: DType, value: HostValue): ElementBits {
  encode(dtype, value);
  const [low = 0, high = 0] = CELL_WORDS;
  return { byteLength: packLength(dtype) * elementBytes(dtype), low, high };
}

function encode(dtype: DType, value: HostValue): void {
  checkValue(dtype, value);
  CELL_WORDS[0] = CELL_WORDS[1] = 0;
  const length = packLength(dtype);
  const cell = cells.getOrInsertComputed(dtype, () => viewBits(dtype, { buffer: CELL, length }));
  if (isSmallFloat(dtype)) cell.set(smallFloatsOf(dtype, Array(length).fill(value)) as never);
  else if (dtype === "complex64") [cell[0], cell[1]] = partsOf(value as ScalarOf<"complex64">);
  else cell[0] = dtype === "bool" ? truthOf(value) : value as number;
}

/**
 * Encodes elements, bit for bit.
 *
 * @throws TypeError when a value is of the wrong JavaScript type.
 * @throws RangeError when an integer does not fit.
 */
export function elementsOf(dtype: DType, values: readonly HostValue[]): HostArray {
  for (const value of values) checkValue(dtype, value);
  if (isSmallFloat(dtype)) return smallFloatsOf(dtype, values as readonly number[]);
  const array = allocateBits(dtype, values.length);
  const plain = dtype === "bool"
    ? values.map(truthOf)
    : dtype === "complex64"
    ? (values as readonly ScalarOf<"complex64">[]).flatMap(partsOf)
    : values;
  (array as { set(values: ArrayLike<unknown>): void }).set(plain);
  return array;
}

/** Returns the byte of a truth value: 1 for every number but 0. */
function truthOf(value: HostValue): 0 | 1 {
  return Number(value) === 0 ? 0 : 1;
}

/** Returns the parts of a complex number; a real one has no imaginary part. */
function partsOf(value: ScalarOf<"complex64"> | number): [number, number] {
  return typeof value === "number" ? [value, 0] : [value.re, value.im];
}

/** Decodes elements that fill bytes. */
export function scalarsIn<D extends DType>(
  dtype: D,
  { buffer }: Uint8Array<ArrayBuffer>,
): ScalarOf<D>[] {
  const values = Array.from(valuesIn<DType>(dtype, viewBits<DType>(dtype, { buffer })) as never);
  if (dtype !== "complex64") return values as ScalarOf<D>[];
  const parts = values as number[];
  return parts.flatMap((re, at) => at % 2 === 0 ? [{ re, im: parts[at + 1] }] : []) as never;
}

/** Makes the error of an action on elements of two types. */
export function otherType(action: string): TypeError {
  return new TypeError(
    `Cannot ${action}: element types differ; astype() converts elements, as() shows their bytes ` +
      "as another type",
  );
}

function checkValue(dtype: DType, value: HostValue): void {
  const isWide = dtype === "int64" || dtype === "uint64";
  const isOther = dtype === "bool" ? typeof value === "boolean" : dtype === "complex64" &&
    isRecord(value) && typeof value["re"] === "number" && typeof value["im"] === "number";
  if (!isOther && typeof value !== (isWide ? "bigint" : "number")) {
    throw new TypeError(
      `Cannot use ${describeValue(value)} as ${dtype}: expected a ` +
        (isWide ? "bigint, such as 1n" : `number${typesOf(dtype, value)}`),
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
function typesOf(dtype: DType, value: unknown): string {
  if (dtype === "complex64") return ", or one such as { re: 1, im: -1 }";
  if (typeof value === "boolean") return ', or the element type "bool"';
  return typeof value === "bigint" ? ', or the element type "int64" or "uint64"' : "";
}

function rangeOf(bits: number, { isSigned }: { readonly isSigned: boolean }): IntegerRange {
  const highest = 2n ** BigInt(isSigned ? bits - 1 : bits) - 1n;
  const lowest = isSigned ? -highest - 1n : 0n;
  return bits === 64 ? { lowest, highest } : { lowest: Number(lowest), highest: Number(highest) };
}
