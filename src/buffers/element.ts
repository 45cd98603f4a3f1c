// One element's bytes from a JavaScript value, checked to fit its type, and back.

import {
  allocateBits,
  type DType,
  fromBfloat16,
  type ScalarOf,
  toBfloat16,
  viewBits,
} from "../dtype.ts";

const INTEGER_BITS: Partial<Record<DType, { bits: number; signed: boolean }>> = {
  int8: { bits: 8, signed: true },
  int16: { bits: 16, signed: true },
  int32: { bits: 32, signed: true },
  int64: { bits: 64, signed: true },
  uint8: { bits: 8, signed: false },
  uint16: { bits: 16, signed: false },
  uint32: { bits: 32, signed: false },
  uint64: { bits: 64, signed: false },
};

/**
 * Encodes one element.
 *
 * @throws TypeError when the value is of the wrong JavaScript type.
 * @throws RangeError when an integer does not fit.
 */
export function elementOf(dtype: DType, value: number | bigint | boolean): Uint8Array<ArrayBuffer> {
  const isTruth = typeof value === "boolean" || typeof value === "number";
  if (dtype === "bool" && isTruth) return Uint8Array.of(value ? 1 : 0);
  const isWide = dtype === "int64" || dtype === "uint64";
  if (isWide ? typeof value !== "bigint" : typeof value !== "number") {
    throw new TypeError(
      `Cannot use ${typeof value} ${value} as ${dtype}: expected a ${isWide ? "bigint" : "number"}`,
    );
  }
  checkInteger(dtype, value as number | bigint);
  if (dtype === "bfloat16") return new Uint8Array(toBfloat16([Number(value)]).buffer);
  const element = allocateBits(dtype, 1);
  if (element instanceof BigInt64Array || element instanceof BigUint64Array) {
    element[0] = BigInt(value);
  } else {
    element[0] = Number(value);
  }
  return new Uint8Array(element.buffer as ArrayBuffer);
}

/** Decodes one element. */
export function scalarOf<D extends DType>(dtype: D, bytes: Uint8Array<ArrayBuffer>): ScalarOf<D> {
  const bits = viewBits<DType>(dtype, { buffer: bytes.buffer, length: 1 });
  const values = dtype === "bfloat16" && bits instanceof Uint16Array ? fromBfloat16(bits) : bits;
  return values[0] as ScalarOf<D>;
}

function checkInteger(dtype: DType, value: number | bigint): void {
  const type = INTEGER_BITS[dtype];
  if (type === undefined) return;
  const lowest = type.signed ? -(2n ** BigInt(type.bits - 1)) : 0n;
  const highest = 2n ** BigInt(type.signed ? type.bits - 1 : type.bits) - 1n;
  const fits = typeof value === "bigint" || Number.isInteger(value);
  if (fits && value >= lowest && value <= highest) return;
  throw new RangeError(
    `Cannot use ${value} as ${dtype}: expected a whole number from ${lowest} to ${highest}`,
  );
}
