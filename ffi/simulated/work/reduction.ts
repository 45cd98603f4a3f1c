// The arithmetic of a simulated NCCL: the ranks' elements are joined in the order of the ranks, and
// rounded to their type at each step.

import { ncclDataType, ncclRedOp } from "../../nccl_constants.ts";
import { typeOf } from "./conversions.ts";

/** The numbers of element types in the kit's kernels, by NCCL's. */
const CODES: ReadonlyMap<number, number> = new Map([
  [ncclDataType.ncclInt8, 4],
  [ncclDataType.ncclUint8, 0],
  [ncclDataType.ncclInt32, 6],
  [ncclDataType.ncclUint32, 2],
  [ncclDataType.ncclInt64, 7],
  [ncclDataType.ncclUint64, 3],
  [ncclDataType.ncclFloat16, 9],
  [ncclDataType.ncclFloat32, 10],
  [ncclDataType.ncclFloat64, 11],
  [ncclDataType.ncclBfloat16, 13],
]);

/** Bytes of one element, by the number of its type. */
export const ELEMENT_BYTES: ReadonlyMap<number, number> = new Map(
  [...CODES].map(([type, code]) => [type, typeOf(code).bytes]),
);

/** Joins the elements of all ranks, which are as many on each. */
export function reduce(
  inputs: readonly Uint8Array<ArrayBuffer>[],
  { datatype, operation }: { readonly datatype: number; readonly operation: number },
): Uint8Array {
  if (datatype === ncclDataType.ncclInt64) return joinBigints(inputs, BigInt64Array, operation);
  if (datatype === ncclDataType.ncclUint64) return joinBigints(inputs, BigUint64Array, operation);
  const { read, write } = typeOf(CODES.get(datatype) ?? 0);
  const valuesOf = (bytes: Uint8Array) => {
    return new Float64Array(read(bytes.slice()) as ArrayLike<number>);
  };
  const rounded = (values: Float64Array) => valuesOf(write(values));
  const isFloat = datatype >= ncclDataType.ncclFloat16;
  const isMean = operation === ncclRedOp.ncclAvg;
  const lists = inputs.map(valuesOf);
  // A mean of floats is a sum of shares, each rounded; one of integers is divided at its end.
  const [share = 1] = isMean && isFloat ? rounded(Float64Array.of(1 / inputs.length)) : [];
  const [first = new Float64Array(), ...others] = share === 1
    ? lists
    : lists.map((list) => rounded(list.map((value) => value * share)));
  const result = others.reduce(
    (sums, list) => rounded(sums.map((one, at) => joined(one, list[at] ?? 0))),
    first,
  );
  return write(isMean && !isFloat ? result.map((sum) => Math.trunc(sum / inputs.length)) : result);

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
): Uint8Array {
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
