// The arithmetic of a simulated NCCL: the ranks' elements are joined in the order of the ranks, and
// rounded to their type at each step.

import { ncclDataType, ncclRedOp } from "../../nccl_constants.ts";

interface NumberType {
  readonly isFloat: boolean;
  readonly decode: (bytes: Uint8Array<ArrayBuffer>) => ArrayLike<number>;
  /** Writes all elements, which are values of the type. */
  readonly encode: (values: ArrayLike<number>) => Uint8Array<ArrayBuffer>;
  /** Rounds a value to the type, or wraps it around. */
  readonly round: (value: number) => number;
}

/** A typed array class whose elements are numbers. */
type NumberArray = {
  new (bytes: ArrayBuffer): ArrayLike<number>;
  new (length: number): { [index: number]: number };
  from(values: ArrayLike<number>): { readonly buffer: ArrayBuffer };
};

const NUMBERS = new Map<number, NumberType>([
  [ncclDataType.ncclInt8, typeOf(Int8Array, { isFloat: false })],
  [ncclDataType.ncclUint8, typeOf(Uint8Array, { isFloat: false })],
  [ncclDataType.ncclInt32, typeOf(Int32Array, { isFloat: false })],
  [ncclDataType.ncclUint32, typeOf(Uint32Array, { isFloat: false })],
  [ncclDataType.ncclFloat16, typeOf(Float16Array, { isFloat: true })],
  [ncclDataType.ncclFloat32, typeOf(Float32Array, { isFloat: true })],
  [ncclDataType.ncclFloat64, typeOf(Float64Array, { isFloat: true })],
  [ncclDataType.ncclBfloat16, brainFloats()],
]);

const BIGINTS = new Map<number, typeof BigInt64Array | typeof BigUint64Array>([
  [ncclDataType.ncclInt64, BigInt64Array],
  [ncclDataType.ncclUint64, BigUint64Array],
]);

/** Bytes of one element, by the number of its type. */
export const ELEMENT_BYTES: ReadonlyMap<number, number> = new Map([
  ...[...NUMBERS].map(([type, { encode }]) => [type, encode([0]).byteLength] as const),
  ...[...BIGINTS].map(([type, { BYTES_PER_ELEMENT }]) => [type, BYTES_PER_ELEMENT] as const),
]);

/** Joins the elements of all ranks, which are as many on each. */
export function reduce(
  inputs: readonly Uint8Array<ArrayBuffer>[],
  { datatype, operation }: { readonly datatype: number; readonly operation: number },
): Uint8Array<ArrayBuffer> {
  const type = NUMBERS.get(datatype);
  if (type !== undefined) return joinNumbers(inputs, type, operation);
  return joinBigints(inputs, BIGINTS.get(datatype) ?? BigInt64Array, operation);
}

function joinNumbers(
  inputs: readonly Uint8Array<ArrayBuffer>[],
  { isFloat, decode, encode, round }: NumberType,
  operation: number,
): Uint8Array<ArrayBuffer> {
  const isMean = operation === ncclRedOp.ncclAvg;
  // A mean of floats is a sum of shares, each rounded; one of integers is divided at its end.
  const share = isMean && isFloat ? round(1 / inputs.length) : 1;
  const [results = new Float64Array(), ...others] = inputs.map((input) => {
    const list = Float64Array.from(decode(input));
    return share === 1 ? list : list.map((value) => round(value * share));
  });
  for (const list of others) {
    for (let at = 0; at < results.length; at++) {
      results[at] = round(joined(results[at] ?? 0, list[at] ?? 0));
    }
  }
  if (isMean && !isFloat) {
    results.forEach((sum, at) => results[at] = Math.trunc(sum / inputs.length));
  }
  return encode(results);

  function joined(one: number, other: number): number {
    if (operation === ncclRedOp.ncclProd) return isFloat ? one * other : Math.imul(one, other);
    if (operation === ncclRedOp.ncclMax) return !(one >= other) ? other : one;
    if (operation === ncclRedOp.ncclMin) return !(one <= other) ? other : one;
    return one + other;
  }
}

function joinBigints(
  inputs: readonly Uint8Array<ArrayBuffer>[],
  BigintArray: typeof BigInt64Array | typeof BigUint64Array,
  operation: number,
): Uint8Array<ArrayBuffer> {
  const lists = inputs.map((input) => new BigintArray(input.slice().buffer));
  const result = new BigintArray(lists[0]?.length ?? 0);
  for (let at = 0; at < result.length; at++) {
    for (const [rank, list] of lists.entries()) {
      const value = list[at] ?? 0n;
      result[at] = rank === 0 ? value : joined(result[at] ?? 0n, value);
    }
    if (operation === ncclRedOp.ncclAvg) result[at] = (result[at] ?? 0n) / BigInt(lists.length);
  }
  return new Uint8Array(result.buffer);

  function joined(one: bigint, other: bigint): bigint {
    if (operation === ncclRedOp.ncclProd) return one * other;
    if (operation === ncclRedOp.ncclMax) return one > other ? one : other;
    if (operation === ncclRedOp.ncclMin) return one < other ? one : other;
    return one + other;
  }
}

function typeOf(Numbers: NumberArray, { isFloat }: { readonly isFloat: boolean }): NumberType {
  const cell = new Numbers(1);
  return {
    isFloat,
    decode: (bytes) => new Numbers(bytes.slice().buffer),
    encode: (values) => new Uint8Array(Numbers.from(values).buffer),
    round(value) {
      cell[0] = value;
      return cell[0];
    },
  };
}

/** The upper halves of 32-bit floats, rounded to the nearest even one. */
function brainFloats(): NumberType {
  const float = new Float32Array(1);
  const word = new Uint32Array(float.buffer);
  const upperHalf = (value: number): number => {
    float[0] = value;
    const [bits = 0] = word;
    if (Number.isNaN(value)) return (bits >>> 16) | 0x40;
    return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
  };
  const widened = (half: number): number => {
    word[0] = half << 16;
    return float[0] ?? 0;
  };
  return {
    isFloat: true,
    decode: (bytes) => Array.from(new Uint16Array(bytes.slice().buffer), widened),
    encode: (values) => new Uint8Array(Uint16Array.from(values, upperHalf).buffer),
    round: (value) => widened(upperHalf(value)),
  };
}
