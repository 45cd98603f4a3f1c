// Element types as DLPack numbers them. What has no type here is refused by the name that the header
// gives it.

import { DLDataTypeCode } from "../../ffi/dlpack.ts";
import { dlpackCode, type DType, DTYPE_NAMES, elementBytes } from "../dtype.ts";

/** An element type in DLPack's words. */
export interface DLDataTypeFields {
  /** The kind of number. */
  readonly code: number;
  /** Bits of one. */
  readonly bits: number;
  /** Number of values that make an element. */
  readonly lanes: number;
}

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(DLDataTypeCode).map(([name, code]) => [code, name]),
);

/** Codes of types whose elements have a fixed number of bits, which their names tell already. */
const FIRST_NARROW = DLDataTypeCode.kDLFloat8_e3m4;

/** Returns an element type in DLPack's words. */
export function toDLDataType(dtype: DType): DLDataTypeFields {
  return { code: dlpackCode(dtype), bits: 8 * elementBytes(dtype), lanes: 1 };
}

/** Finds the element type that DLPack's words mean; undefined when there is none here. */
export function fromDLDataType({ code, bits, lanes }: DLDataTypeFields): DType | undefined {
  if (lanes !== 1) return undefined;
  return DTYPE_NAMES.find((dtype) => {
    return dlpackCode(dtype) === code && 8 * elementBytes(dtype) === bits;
  });
}

/** Words a type of DLPack's: `kDLFloat8_e4m3fn`, `kDLComplex of 64 bits`. */
export function wordsOf({ code, bits, lanes }: DLDataTypeFields): string {
  const name = NAMES.get(code) ?? `type code ${code}`;
  const width = NAMES.has(code) && code >= FIRST_NARROW ? "" : ` of ${bits} bits`;
  return `${name}${width}${lanes === 1 ? "" : ` in vectors of ${lanes} lanes`}`;
}
