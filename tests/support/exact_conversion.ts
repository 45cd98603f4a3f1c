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

/** Small floats: bits of the digits, what is subtracted from the exponent, and the largest's bits. */
const SMALL: Partial<Record<DType, { digits: number; bias: number; largest: bigint }>> = {
  float8_e4m3fn: { digits: 3, bias: 7, largest: 0x7en },
  float8_e5m2: { digits: 2, bias: 15, largest: 0x7bn },
  float8_e4m3fnuz: { digits: 3, bias: 8, largest: 0x7fn },
  float8_e5m2fnuz: { digits: 2, bias: 16, largest: 0x7fn },
  float6_e2m3fn: { digits: 3, bias: 1, largest: 0x1fn },
  float6_e3m2fn: { digits: 2, bias: 3, largest: 0x1fn },
  float4_e2m1fn: { digits: 1, bias: 1, largest: 0x7n },
};

/** Tells the value of a small float without its sign, in units. */
function smallMagnitude({ digits, bias }: { digits: number; bias: number }, code: bigint): bigint {
  const hidden = 1n << BigInt(digits);
  const [exponent, rest] = [code / hidden, code % hidden];
  const shift = UNIT_BITS + (exponent === 0n ? 1n : exponent) - BigInt(bias + digits);
  return (exponent === 0n ? rest : rest + hidden) << shift;
}

function decodeSmall(dtype: DType, bits: bigint): Exact {
  if (dtype === "float8_e8m0fnu") return bits === 255n ? "nan" : 1n << (UNIT_BITS + bits - 127n);
  const format = SMALL[dtype] ?? { digits: 0, bias: 0, largest: 0n };
  const sign = 1n << BigInt(8 * elementBytes(dtype) - 1);
  const magnitude = bits % sign;
  if (dtype.endsWith("uz") && bits === sign) return "nan";
  if (magnitude > format.largest) {
    if (dtype !== "float8_e5m2" || magnitude !== 0x7cn) return "nan";
    return bits < sign ? "inf" : "-inf";
  }
  const value = smallMagnitude(format, magnitude);
  return bits < sign ? value : -value;
}

/** Encodes by a search for the nearest of all values; ties go to even codes, those of scales up. */
function encodeSmall(dtype: DType, value: Exact, isNegative: boolean): bigint {
  if (dtype === "float8_e8m0fnu") {
    if (typeof value !== "bigint" || value <= 0n) return 255n;
    let code = 0n;
    while (code < 255n && 2n * value >= 3n << (UNIT_BITS + code - 127n)) code++;
    const isBetween = code === 0n && value > 1n << (UNIT_BITS - 127n);
    return isBetween ? 1n : code;
  }
  const format = SMALL[dtype] ?? { digits: 0, bias: 0, largest: 0n };
  const sign = 1n << BigInt(8 * elementBytes(dtype) - 1);
  const hasNone = elementBytes(dtype) < 1;
  if (value === "nan") return dtype === "float8_e5m2" ? 0x7en : format.largest + 1n;
  const magnitude = value === "inf" || value === "-inf" ? 1n << 3000n : value < 0n ? -value : value;
  let code = 0n;
  while (code <= format.largest) {
    const twice = smallMagnitude(format, code) + smallMagnitude(format, code + 1n);
    if (2n * magnitude < twice || (2n * magnitude === twice && code % 2n === 0n)) break;
    code++;
  }
  if (code > format.largest) code = hasNone ? format.largest : format.largest + 1n;
  if (dtype.endsWith("uz") && (code === 0n || code > format.largest)) return code;
  return code | (isNegative ? sign : 0n);
}

function decode(dtype: DType, bits: bigint): Exact {
  if (dtype === "complex64") return decode("float32", BigInt.asUintN(32, bits));
  if (dtype in SMALL || dtype === "float8_e8m0fnu") return decodeSmall(dtype, bits);
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
  if (dtype === "complex64") return encode("float32", value, isNegative);
  if (dtype in SMALL || dtype === "float8_e8m0fnu") return encodeSmall(dtype, value, isNegative);
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
  if (from === "complex64" && to === "bool") return (bits & 0x7fffffff_7fffffffn) === 0n ? 0n : 1n;
  const value = decode(from, bits);
  const own = from === "complex64" ? "float32" : from;
  const hasSign = own in FLOATS || own in SMALL
    ? (bits >> BigInt(8 * elementBytes(own) - 1) & 1n) === 1n
    : typeof value === "bigint" && value < 0n;
  return encode(to, value, hasSign);
}

/** Bit patterns that conversions go wrong at, and random ones. */
export function patterns(dtype: DType, random: Random, count: number): bigint[] {
  const width = BigInt(8 * elementBytes(dtype));
  if (width <= 8n && dtype.startsWith("float")) {
    return Array.from({ length: 256 }, (_, at) => BigInt.asUintN(Number(width), BigInt(at)));
  }
  if (dtype === "bool") return Array.from({ length: count }, () => BigInt(random.below(2)));
  const edges = [0n, 1n, -1n, 1n << (width - 1n), (1n << (width - 1n)) - 1n];
  for (const other of DTYPE_NAMES) {
    const format = FLOATS[other];
    for (const power of [1n, 7n, 8n, 10n, 11n, 15n, 16n, 23n, 24n, 31n, 32n, 52n, 53n, 62n, 63n]) {
      for (const step of [-1n, 0n, 1n]) edges.push((1n << power) + step, -(1n << power) + step);
    }
    if (FLOATS[dtype] === undefined) continue;
    edges.push(...middles(other, dtype));
    if (format === undefined) continue;
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
  const chosen = new Set(
    [...edges, ...mantissas].map((bits) => BigInt.asUintN(Number(width), bits)),
  );
  return [...chosen].slice(chosen.size % 4); // packed elements go by four
}

/** The bits of all values of a small float, of those half way between two, and of their neighbours. */
function middles(small: DType, dtype: DType): bigint[] {
  const format = SMALL[small];
  if (format === undefined) return [];
  const codes = Array.from({ length: Number(format.largest) + 1 }, (_, code) => BigInt(code));
  return codes.flatMap((code) => {
    const [value, next] = [smallMagnitude(format, code), smallMagnitude(format, code + 1n)];
    return [value, (value + next) / 2n].flatMap((exact) => {
      const near = encode(dtype, exact, code % 2n === 0n);
      return [near - 1n, near, near + 1n];
    });
  });
}

/** Elements from their bits, packed from the lowest bit on. */
export function bytesOf(dtype: DType, bits: readonly bigint[]): ArrayBuffer {
  const width = 8 * elementBytes(dtype);
  const bytes = new Uint8Array(bits.length * width / 8);
  for (const [index, value] of bits.entries()) {
    for (let at = 0; at < width; at++) {
      const place = index * width + at;
      const byte = Math.floor(place / 8);
      bytes[byte] = (bytes[byte] ?? 0) | Number(value >> BigInt(at) & 1n) << place % 8;
    }
  }
  return bytes.buffer;
}

/** The bits of elements. */
export function bitsOf(dtype: DType, buffer: ArrayBuffer): bigint[] {
  const width = 8 * elementBytes(dtype);
  const bytes = new Uint8Array(buffer);
  return Array.from({ length: 8 * bytes.length / width }, (_, index) => {
    let value = 0n;
    for (let at = width - 1; at >= 0; at--) {
      const place = index * width + at;
      value = value << 1n | BigInt((bytes[Math.floor(place / 8)] ?? 0) >> place % 8 & 1);
    }
    return value;
  });
}
