// DLPack's codes for element types. Types that the kit lacks are named in errors as in DLPack's
// header.

import { DLDataTypeCode } from "../../ffi/dlpack.ts";
import { dlpackCode, type DType, DTYPE_NAMES, elementBytes } from "../dtype.ts";

/** An element type in DLPack's terms. */
export interface DLDataTypeFields {
  /** The kind of number. */
  readonly code: number;
  readonly bits: number;
  /** Number of values that make an element. */
  readonly lanes: number;
}

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(DLDataTypeCode).map(([name, code]) => [code, name]),
);

/** From this code on, a type's name already tells its number of bits. */
const FIRST_NARROW = DLDataTypeCode.kDLFloat8_e3m4;

/** Returns an element type in DLPack's terms. */
export function toDLDataType(dtype: DType): DLDataTypeFields {
  return { code: dlpackCode(dtype), bits: 8 * elementBytes(dtype), lanes: 1 };
}

/** An array's type and layout in DLPack's terms. */
interface DLLayout {
  readonly type: DLDataTypeFields;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

/**
 * Returns the type and the layout of an array for a library: two elements of 4 bits are one of PyTorch's
 * `float4_e2m1fn_x2`, which halves the last axis. With an odd last axis they are single elements.
 */
export function layoutFor(
  { dtype, shape, strides }: Pick<DLLayout, "shape" | "strides"> & { readonly dtype: DType },
): DLLayout {
  const [type, last] = [toDLDataType(dtype), shape.at(-1)];
  if (type.bits !== 4 || last === undefined || last % 2 !== 0) return { type, shape, strides };
  const outer = strides.slice(0, -1).map((stride) => stride / 2);
  return { type: { ...type, lanes: 2 }, shape: shape.with(-1, last / 2), strides: [...outer, 1] };
}

/** Finds the element type for one of DLPack's; undefined when the kit lacks it. */
export function fromDLDataType({ code, bits, lanes }: DLDataTypeFields): DType | undefined {
  if (lanes !== 1 && (lanes !== 2 || bits !== 4)) return undefined;
  return DTYPE_NAMES.find((dtype) => {
    return dlpackCode(dtype) === code && 8 * elementBytes(dtype) === bits;
  });
}

/** Describes a type of DLPack: `kDLFloat8_e4m3fn`, `kDLComplex of 64 bits`. */
export function wordsOf({ code, bits, lanes }: DLDataTypeFields): string {
  const name = NAMES.get(code) ?? `type code ${code}`;
  const width = NAMES.has(code) && code >= FIRST_NARROW ? "" : ` of ${bits} bits`;
  return `${name}${width}${lanes === 1 ? "" : ` in vectors of ${lanes} lanes`}`;
}
