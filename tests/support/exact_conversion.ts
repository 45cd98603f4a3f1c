// Conversions of element types by exact arithmetic on big numbers: the answers that astype() must give.

import { type DType, DTYPE_NAMES, elementBytes } from "../../src/dtype.ts";
import type { Random } from "./random.ts";

/** All finite values are whole multiples of the smallest float64: counted in those. */
const UNIT_BITS = 1074n;

/** A value, exactly: NaN, an infinity, or a count of units. */
type Exact = "nan" | "inf" | "-inf" | bigint;

/** Bits of the digits, and of the exponent. */
const FLOATS: Partial<Record<DType, { readonly digits: number; readonly exponent: number }>> = {
  float16: { digits: 10, exponent: 5 },
  bfloat16: { digits: 7, exponent: 8 },
  float32: { digits: 23, exponent: 8 },
  float64: { digits: 52, exponent: 11 },
};

function decode(dtype: DType, bits: bigint): Exact {
  const width = 8 * elementBytes(dtype);
  const format = FLOATS[dtype];
  if (dtype === "bool") return bits === 0n ? 0n : 1n << UNIT_BITS;
  if (format === undefined) {
    return (dtype.startsWith("u") ? bits : BigInt.asIntN(width, bits)) << UNIT_BITS;
  }
  const digits = bits & ((1n << BigInt(format.digits)) - 1n);
  const most = (1n << BigInt(format.exponent)) - 1n;
  const exponent = (bits >> BigInt(format.digits)) & most;
  const isNegative = bits >> BigInt(width - 1) === 1n;
  if (exponent === most) return digits !== 0n ? "nan" : isNegative ? "-inf" : "inf";
  const lowest = unitsOfLowest(format);
  const magnitude = exponent === 0n
    ? digits << lowest
    : (digits | (1n << BigInt(format.digits))) << (lowest + exponent - 1n);
  return isNegative ? -magnitude : magnitude;
}

/** Logarithm of the smallest value of a format, counted in units. */
function unitsOfLowest({ digits, exponent }: { digits: number; exponent: number }): bigint {
  return UNIT_BITS - BigInt(2 ** (exponent - 1) - 2 + digits);
}

function encode(dtype: DType, value: Exact, isNegative: boolean): bigint {
  const format = FLOATS[dtype];
  if (dtype === "bool") return value === 0n ? 0n : 1n;
  if (format === undefined) {
    if (typeof value !== "bigint") return 0n;
    const cut = value < 0n ? -(-value >> UNIT_BITS) : value >> UNIT_BITS;
    return BigInt.asUintN(8 * elementBytes(dtype), cut);
  }
  const sign = isNegative ? 1n << BigInt(8 * elementBytes(dtype) - 1) : 0n;
  const infinity = ((1n << BigInt(format.exponent)) - 1n) << BigInt(format.digits);
  if (value === "nan") return infinity | (1n << BigInt(format.digits - 1));
  if (typeof value !== "bigint") return sign | infinity;
  const magnitude = value < 0n ? -value : value;
  const lowest = unitsOfLowest(format);
  const length = BigInt(magnitude.toString(2).length);
  const cutBits = [lowest, length - BigInt(format.digits) - 1n].reduce((a, b) => a > b ? a : b);
  let rounded = magnitude >> cutBits;
  const rest = magnitude - (rounded << cutBits);
  const half = cutBits === 0n ? 0n : 1n << (cutBits - 1n);
  if (cutBits > 0n && (rest > half || (rest === half && rounded % 2n === 1n))) rounded += 1n;
  // A carry moves into the exponent by itself.
  const hidden = 1n << BigInt(format.digits);
  const bits = rounded < hidden && cutBits === lowest
    ? rounded
    : rounded + (cutBits - lowest) * hidden;
  return sign | (bits > infinity ? infinity : bits);
}

/** The bits of an element of one type as another, by exact arithmetic. */
export function reference(from: DType, to: DType, bits: bigint): bigint {
  if (from === to) return bits;
  const value = decode(from, bits);
  const hasSign = FLOATS[from] !== undefined
    ? bits >> BigInt(8 * elementBytes(from) - 1) === 1n
    : typeof value === "bigint" && value < 0n;
  return encode(to, value, hasSign);
}

/** Bit patterns that conversions go wrong at, and random ones. */
export function patterns(dtype: DType, random: Random, count: number): bigint[] {
  const width = BigInt(8 * elementBytes(dtype));
  if (dtype === "bool") return Array.from({ length: count }, () => BigInt(random.below(2)));
  const edges = [0n, 1n, -1n, 1n << (width - 1n), (1n << (width - 1n)) - 1n];
  for (const other of DTYPE_NAMES) {
    const format = FLOATS[other];
    for (const power of [1n, 7n, 8n, 10n, 11n, 15n, 16n, 23n, 24n, 31n, 32n, 52n, 53n, 62n, 63n]) {
      for (const step of [-1n, 0n, 1n]) edges.push((1n << power) + step, -(1n << power) + step);
    }
    if (format === undefined || FLOATS[dtype] === undefined) continue;
    // The largest of another format, its middle to what is next, and its smallest.
    const infinity = ((1n << BigInt(format.exponent)) - 1n) << BigInt(format.digits);
    for (const bits of [infinity, infinity - 1n, 1n, 1n << BigInt(format.digits)]) {
      const near = encode(dtype, decode(other, bits), false);
      for (const step of [-1n, 0n, 1n]) edges.push(near + step);
      const middle = decode(other, bits - 1n);
      const value = decode(other, bits);
      if (typeof middle !== "bigint" || typeof value !== "bigint") continue;
      const between = encode(dtype, (middle + value) / 2n, false);
      for (const step of [-1n, 0n, 1n]) edges.push(between + step);
    }
  }
  const mantissas = Array.from({ length: count }, () => {
    const whole = BigInt(random.below(2 ** 32)) << 32n | BigInt(random.below(2 ** 32));
    // Whole numbers of all lengths, since most random bits are near the largest.
    return FLOATS[dtype] === undefined ? whole >> BigInt(random.below(64)) : whole;
  });
  return [...edges, ...mantissas].map((bits) => BigInt.asUintN(Number(width), bits));
}

/** Elements from their bits. */
export function bytesOf(dtype: DType, bits: readonly bigint[]): ArrayBuffer {
  const width = elementBytes(dtype);
  const view = new DataView(new ArrayBuffer(bits.length * width));
  for (const [index, value] of bits.entries()) {
    for (let at = 0; at < width; at++) {
      view.setUint8(index * width + at, Number(value >> BigInt(8 * at) & 0xffn));
    }
  }
  return view.buffer;
}

/** The bits of elements. */
export function bitsOf(dtype: DType, buffer: ArrayBuffer): bigint[] {
  const width = elementBytes(dtype);
  const bytes = new Uint8Array(buffer);
  return Array.from({ length: bytes.length / width }, (_, index) => {
    let value = 0n;
    for (let at = width - 1; at >= 0; at--) {
      value = value << 8n | BigInt(bytes[index * width + at] ?? 0);
    }
    return value;
  });
}
