// NCCL's numbers for the kit's element types and reductions.

import { ncclDataType, ncclRedOp } from "../../ffi/nccl_constants.ts";
import { type DType, elementBytes } from "../dtype.ts";
import { oneOf, type OptionKind } from "../words/options.ts";

/** Operation of a reduction; the mean of integers is truncated. */
export type Reduction = "sum" | "prod" | "max" | "min" | "avg";

/** NCCL's numbers of the reductions. */
export const REDUCTIONS: Readonly<Record<Reduction, number>> = {
  sum: ncclRedOp.ncclSum,
  prod: ncclRedOp.ncclProd,
  max: ncclRedOp.ncclMax,
  min: ncclRedOp.ncclMin,
  avg: ncclRedOp.ncclAvg,
};

/** The name of a reduction. */
export const REDUCTION: OptionKind = oneOf(...Object.keys(REDUCTIONS));

/** The element types that NCCL computes with. */
const TYPES: { readonly [D in DType]?: number } = {
  int8: ncclDataType.ncclInt8,
  uint8: ncclDataType.ncclUint8,
  int32: ncclDataType.ncclInt32,
  uint32: ncclDataType.ncclUint32,
  int64: ncclDataType.ncclInt64,
  uint64: ncclDataType.ncclUint64,
  float16: ncclDataType.ncclFloat16,
  float32: ncclDataType.ncclFloat32,
  float64: ncclDataType.ncclFloat64,
  bfloat16: ncclDataType.ncclBfloat16,
};

/** NCCL's number of a type, and how many of those an element takes. */
interface NcclElement {
  readonly type: number;
  readonly scale: number;
}

/**
 * Returns NCCL's type for a reduction of elements.
 *
 * @throws TypeError for a type that NCCL does not compute with.
 */
export function typeForReduction(dtype: DType, call: string): NcclElement {
  const type = TYPES[dtype];
  if (type !== undefined) return { type, scale: 1 };
  const known = Object.keys(TYPES).join(", ");
  throw new TypeError(`Cannot call ${call}() with ${dtype}: NCCL computes with ${known}`);
}

/** Returns NCCL's type by which elements are moved. */
export function typeForMove(dtype: DType, _call: string): NcclElement {
  const type = TYPES[dtype];
  if (type !== undefined) return { type, scale: 1 };
  return { type: ncclDataType.ncclUint8, scale: elementBytes(dtype) };
}
