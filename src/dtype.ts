// Element types: names, sizes, codes, and the typed array that holds the elements. Names are NumPy's,
// ml_dtypes' and DLPack's. Floats without a typed array of their own travel as float32 or as bits.

import {
  decodeFloats,
  encodeFloats,
  type FloatLayout,
  layoutCode,
  oddWords,
  packBits,
  unpackBits,
} from "../ffi/small_floats.ts";
import { describeValue, formatBytes, formatCount } from "./words/format.ts";
import { oneOf, type OptionKind, requireKind } from "./words/options.ts";

/** The facts about an element type. */
interface ElementType {
  readonly bits: number;
  /** Holds the elements bit for bit. */
  readonly array: TypedArrayConstructor;
  /** DLPack's type code. */
  readonly dlpackCode: number;
  /**
   * Number by which the kernels know it: the kind above, log2 of the bytes in the lower two bits;
   * undefined for those of a layout.
   */
  readonly kernelCode?: number;
  /** The layout of a float that no typed array shows the values of. */
  readonly layout?: FloatLayout;
}

type TypedArrayConstructor = {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): HostArray;
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): HostArray;
};

/** Any typed array, over ordinary or shared memory. */
export type HostArray =
  | Float16Array<ArrayBufferLike>
  | Float32Array<ArrayBufferLike>
  | Float64Array<ArrayBufferLike>
  | Int8Array<ArrayBufferLike>
  | Int16Array<ArrayBufferLike>
  | Int32Array<ArrayBufferLike>
  | BigInt64Array<ArrayBufferLike>
  | Uint8Array<ArrayBufferLike>
  | Uint8ClampedArray<ArrayBufferLike>
  | Uint16Array<ArrayBufferLike>
  | Uint32Array<ArrayBufferLike>
  | BigUint64Array<ArrayBufferLike>;

/** Name of an element type, such as `"float32"`. Names are those of NumPy, ml_dtypes and DLPack. */
export type DType =
  | "float16"
  | "bfloat16"
  | "float32"
  | "float64"
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64"
  | "bool"
  | "float8_e4m3fn"
  | "float8_e5m2"
  | "float8_e8m0fnu"
  | "float8_e4m3fnuz"
  | "float8_e5m2fnuz"
  | "float6_e2m3fn"
  | "float6_e3m2fn"
  | "float4_e2m1fn"
  | "complex64";

/** Floats that no typed array shows the values of: those travel as float32. */
type SmallFloat = Extract<DType, "bfloat16" | `float${4 | 6 | 8}_${string}`>;

/** The typed array that holds each element type bit for bit. */
export interface BitArrays {
  /** 16-bit floats. */
  float16: Float16Array<ArrayBuffer>;
  /** The upper half of a float32, as bits. */
  bfloat16: Uint16Array<ArrayBuffer>;
  /** 32-bit floats. */
  float32: Float32Array<ArrayBuffer>;
  /** 64-bit floats. */
  float64: Float64Array<ArrayBuffer>;
  /** 8-bit integers with sign. */
  int8: Int8Array<ArrayBuffer>;
  /** 16-bit integers with sign. */
  int16: Int16Array<ArrayBuffer>;
  /** 32-bit integers with sign. */
  int32: Int32Array<ArrayBuffer>;
  /** 64-bit integers with sign, as bigint. */
  int64: BigInt64Array<ArrayBuffer>;
  /** Bytes. */
  uint8: Uint8Array<ArrayBuffer>;
  /** 16-bit integers without sign. */
  uint16: Uint16Array<ArrayBuffer>;
  /** 32-bit integers without sign. */
  uint32: Uint32Array<ArrayBuffer>;
  /** 64-bit integers without sign, as bigint. */
  uint64: BigUint64Array<ArrayBuffer>;
  /** Booleans: one byte each, 0 or 1. */
  bool: Uint8Array<ArrayBuffer>;
  /** Bytes, each with a sign, 4 bits of exponent and 3 of mantissa: up to 448, and NaN. */
  float8_e4m3fn: Uint8Array<ArrayBuffer>;
  /** Bytes with 5 bits of exponent and 2 of mantissa: up to 57344, infinities and NaN. */
  float8_e5m2: Uint8Array<ArrayBuffer>;
  /** Bytes that are powers of two, from 2^-127 to 2^127, and NaN. */
  float8_e8m0fnu: Uint8Array<ArrayBuffer>;
  /** Like float8_e4m3fn, up to 240, with NaN in place of -0. */
  float8_e4m3fnuz: Uint8Array<ArrayBuffer>;
  /** Like float8_e5m2, up to 57344, with NaN in place of -0 and no infinities. */
  float8_e5m2fnuz: Uint8Array<ArrayBuffer>;
  /** Four elements in 3 bytes, from the lowest bit on: up to 7.5, without NaN. */
  float6_e2m3fn: Uint8Array<ArrayBuffer>;
  /** Four elements in 3 bytes, from the lowest bit on: up to 28, without NaN. */
  float6_e3m2fn: Uint8Array<ArrayBuffer>;
  /** Two elements in a byte, the first in its lower half: up to 6, without NaN. */
  float4_e2m1fn: Uint8Array<ArrayBuffer>;
  /** Real and imaginary parts in turn, as 32-bit floats. */
  complex64: Float32Array<ArrayBuffer>;
}

const DTYPES = {
  float16: { bits: 16, array: Float16Array, dlpackCode: 2, kernelCode: 9 },
  bfloat16: {
    ...{ bits: 16, array: Uint16Array, dlpackCode: 4, kernelCode: 13 },
    layout: { bits: 16, mantissaBits: 7, bias: 127, largest: 0x7f7f, specials: "ieee" },
  },
  float32: { bits: 32, array: Float32Array, dlpackCode: 2, kernelCode: 10 },
  float64: { bits: 64, array: Float64Array, dlpackCode: 2, kernelCode: 11 },
  int8: { bits: 8, array: Int8Array, dlpackCode: 0, kernelCode: 4 },
  int16: { bits: 16, array: Int16Array, dlpackCode: 0, kernelCode: 5 },
  int32: { bits: 32, array: Int32Array, dlpackCode: 0, kernelCode: 6 },
  int64: { bits: 64, array: BigInt64Array, dlpackCode: 0, kernelCode: 7 },
  uint8: { bits: 8, array: Uint8Array, dlpackCode: 1, kernelCode: 0 },
  uint16: { bits: 16, array: Uint16Array, dlpackCode: 1, kernelCode: 1 },
  uint32: { bits: 32, array: Uint32Array, dlpackCode: 1, kernelCode: 2 },
  uint64: { bits: 64, array: BigUint64Array, dlpackCode: 1, kernelCode: 3 },
  bool: { bits: 8, array: Uint8Array, dlpackCode: 6, kernelCode: 12 },
  float8_e4m3fn: small(10, { bits: 8, mantissaBits: 3, bias: 7, largest: 0x7e, specials: "nan" }),
  float8_e5m2: small(12, { bits: 8, mantissaBits: 2, bias: 15, largest: 0x7b, specials: "ieee" }),
  float8_e8m0fnu: small(14, {
    ...{ bits: 8, mantissaBits: 0, bias: 127, largest: 0xfe, specials: "scale" },
  }),
  float8_e4m3fnuz: small(11, {
    ...{ bits: 8, mantissaBits: 3, bias: 8, largest: 0x7f, specials: "one-zero" },
  }),
  float8_e5m2fnuz: small(13, {
    ...{ bits: 8, mantissaBits: 2, bias: 16, largest: 0x7f, specials: "one-zero" },
  }),
  float6_e2m3fn: small(15, { bits: 6, mantissaBits: 3, bias: 1, largest: 0x1f, specials: "none" }),
  float6_e3m2fn: small(16, { bits: 6, mantissaBits: 2, bias: 3, largest: 0x1f, specials: "none" }),
  float4_e2m1fn: small(17, { bits: 4, mantissaBits: 1, bias: 1, largest: 7, specials: "none" }),
  complex64: { bits: 64, array: Float32Array, dlpackCode: 5, kernelCode: 19 },
} as const satisfies Record<DType, ElementType> satisfies Record<keyof BitArrays, ElementType>;

function small(dlpackCode: number, layout: FloatLayout): ElementType {
  return { bits: layout.bits, array: Uint8Array, dlpackCode, layout };
}

/** The typed array that holds elements of `D` bit for bit (small floats: the bits in bytes or words). */
export type BitsOf<D extends DType> = BitArrays[D];

/** The typed array that shows values of `D`: small floats widen to Float32Array without loss. */
export type ArrayOf<D extends DType> = D extends "bfloat16" | `float${4 | 6 | 8}_${string}`
  ? Float32Array<ArrayBuffer>
  : BitsOf<D>;

/** The element type that a typed array's class stands for. */
export type DTypeOf<A extends HostArray> = A extends Uint8ClampedArray<ArrayBufferLike> ? "uint8"
  : A extends HostArray ? {
      [D in Extract<DType, `${"u" | ""}int${number}` | `float${number}`>]:
        A[typeof Symbol.toStringTag] extends BitArrays[D][typeof Symbol.toStringTag] ? D : never;
    }[Extract<DType, `${"u" | ""}int${number}` | `float${number}`>]
  : never;

/**
 * One element of `D` in JavaScript: bigint for 64-bit integers, `{ re, im }` for complex numbers, number
 * for the rest. It is a table and no condition, so that functions over several types may pass a number
 * for their `D`.
 */
export type ScalarOf<D extends DType> = {
  readonly [K in DType]: K extends "int64" | "uint64" ? bigint
    : K extends "complex64" ? { readonly re: number; readonly im: number }
    : number;
}[D];

/**
 * A value that an element of `D` takes: a bigint for 64-bit integers, a boolean or a number for bool, a
 * number or `{ re, im }` for complex64.
 */
export type HostValue<D extends DType = DType> = {
  readonly [K in DType]: K extends "bool" ? number | boolean
    : K extends "complex64" ? number | ScalarOf<K>
    : ScalarOf<K>;
}[D];

/** Names of all element types. */
export const DTYPE_NAMES: readonly DType[] = Object.keys(DTYPES) as DType[];

/** The name of an element type. */
export const DTYPE: OptionKind = { ...oneOf(...DTYPE_NAMES), describe: describeType };

/** Bytes of one element; a part of one for packed types: 0.5 for float4_e2m1fn, 0.75 for 6 bits. */
export function elementBytes(dtype: DType): number {
  return describe(dtype).bits / 8;
}

/** Bytes by which addresses of elements are divisible; 1 for packed elements. */
export function alignmentOf(dtype: DType): number {
  return Math.ceil(elementBytes(dtype));
}

/** Number of elements that fill whole bytes: 1, or 2 or 4 for packed types. */
export function packLength(dtype: DType): number {
  const { bits } = describe(dtype);
  return bits === 4 ? 2 : bits === 6 ? 4 : 1;
}

/** Makes the error of an action on packed elements that begin or end inside a byte. */
export function insideByte(dtype: DType, action: string): RangeError {
  const each = packLength(dtype);
  return new RangeError(
    `Cannot ${action}: it begins or ends inside a byte, and ${dtype} has ${each} elements in ` +
      `${formatCount(each * elementBytes(dtype), "byte")}; use multiples of ${each}`,
  );
}

/** DLPack's type code of an element type. */
export function dlpackCode(dtype: DType): number {
  return describe(dtype).dlpackCode;
}

/** The number by which the kernels that convert elements know a type. */
export function kernelCode(dtype: DType): number {
  return describe(dtype).kernelCode ?? layoutCode(layoutOf(dtype as SmallFloat));
}

/** Makes a typed array of bits, from a length in elements. */
function countIn({ array, bits }: ElementType, length: number): number {
  return length * bits / 8 / array.BYTES_PER_ELEMENT;
}

/**
 * Makes a zeroed array that holds `length` elements of `dtype` bit for bit.
 *
 * @throws RangeError when the host has no memory for it.
 */
export function allocateBits<D extends DType>(dtype: D, length: number): BitsOf<D> {
  const type = describe(dtype);
  try {
    return new type.array(countIn(type, length)) as BitsOf<D>;
  } catch (cause) {
    const size = formatBytes(length * type.bits / 8);
    const message = `Cannot make an array of ${size}: the host has no memory for it`;
    throw new RangeError(message, { cause });
  }
}

/** Makes an array of elements that lie in memory, bit for bit; V8 does not clear it first. */
export function copyBits<D extends DType>(
  dtype: D,
  { buffer, byteOffset, length }: {
    readonly buffer: ArrayBufferLike;
    readonly byteOffset: number;
    readonly length: number;
  },
): BitsOf<D> {
  const type = describe(dtype);
  const { array } = type;
  return new array(new array(buffer, byteOffset, countIn(type, length)) as never) as BitsOf<D>;
}

/** Returns whether a Float32Array is rounded to elements of a type. */
export function isNarrow(dtype: DType): boolean {
  return dtype === "float16" || isSmallFloat(dtype);
}

/** Rounds floats to elements of a smaller type, once and to nearest even. */
export function narrowed(dtype: DType, values: Float32Array<ArrayBufferLike>): HostArray {
  return isSmallFloat(dtype)
    ? encoded(dtype, new Uint32Array(values.slice().buffer))
    : new Float16Array(values);
}

function layoutOf(dtype: SmallFloat): FloatLayout {
  return DTYPES[dtype].layout as FloatLayout;
}

function encoded(dtype: SmallFloat, words: Uint32Array<ArrayBuffer>) {
  const layout = layoutOf(dtype);
  if (words.length % packLength(dtype) !== 0) {
    throw insideByte(dtype, `pack ${formatCount(words.length, "value")}`);
  }
  const codes = encodeFloats(layout, words);
  return layout.bits < 8 ? packBits(codes, layout.bits) : codes;
}

function decoded(layout: FloatLayout, held: HostArray): Float32Array<ArrayBuffer> {
  const { bits } = layout;
  if (bits >= 8) return decodeFloats(layout, held as ArrayLike<number>);
  const count = held.length * 8 / bits;
  return decodeFloats(layout, unpackBits(held as Uint8Array, { bits, count }));
}

/** Returns whether no typed array shows values of a type, which travel as float32. */
export function isSmallFloat(dtype: DType): dtype is SmallFloat {
  return describe(dtype).layout !== undefined;
}

/** Rounds numbers to elements of a small float, once and to nearest even. */
export function smallFloatsOf(dtype: SmallFloat, values: readonly number[]): HostArray {
  return encoded(dtype, oddWords(Float64Array.from(values)));
}

/** Returns the values of elements that an array holds bit for bit: small floats as float32. */
export function valuesIn<D extends DType>(dtype: D, held: BitsOf<D>): ArrayOf<D> {
  return (isSmallFloat(dtype) ? decoded(layoutOf(dtype), held) : held) as ArrayOf<D>;
}

/** Creates a typed array over existing memory, all of it or `length` elements, bit for bit. */
export function viewBits<D extends DType>(
  dtype: D,
  memory: { buffer: ArrayBufferLike; byteOffset?: number; length?: number },
): BitsOf<D> {
  const { buffer, byteOffset = 0, length } = memory;
  const type = describe(dtype);
  const count = length === undefined ? undefined : countIn(type, length);
  return new type.array(buffer, byteOffset, count) as BitsOf<D>;
}

/** The element type of each kind of typed array, by the tag that subclasses keep. */
const DTYPE_OF_TAG: Readonly<Record<string, DType>> = {
  ...Object.fromEntries(
    DTYPE_NAMES.filter((name) => /^(u?int|float)\d+$/.test(name))
      .map((name) => [DTYPES[name].array.name, name]),
  ),
  Uint8ClampedArray: "uint8",
};

/** The built-in getter, because a subclass or a property of an array can lie about its class. */
const tagOf = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)?.get as (this: unknown) => string | undefined;

/** Returns the element type of a typed array; undefined for a DataView. */
export function dtypeOf(array: ArrayBufferView): DType | undefined {
  return DTYPE_OF_TAG[tagOf.call(array) ?? ""];
}

/** The other typed arrays that may hold the bits of a type. */
export function mayHold(dtype: DType, array: DType): boolean {
  return dtype === array || (dtype === "float16" && array === "uint16") ||
    array === DTYPE_OF_TAG[describe(dtype).array.name];
}

/** Elements of a list are looked at one by one, which would take most of a conversion's time. */
const NUMBERS: OptionKind = {
  expected: "numbers, in an array or a list",
  accepts: (value) => {
    if (ArrayBuffer.isView(value)) return !["int64", "uint64", undefined].includes(dtypeOf(value));
    return typeof value === "object" && typeof Object(value).length === "number" &&
      Array.prototype.every.call(value, (item) => typeof item === "number");
  },
};

const BITS: OptionKind = {
  expected: "the bits of bfloat16, in a Uint16Array",
  accepts: (value) => ArrayBuffer.isView(value) && dtypeOf(value) === "uint16",
};

/** Rounds values to bfloat16 bits, once and to nearest even; NaN stays NaN. */
export function toBfloat16(values: ArrayLike<number>): Uint16Array<ArrayBuffer> {
  requireKind(values, NUMBERS, "toBfloat16");
  const words = values instanceof Float32Array
    ? new Uint32Array(values.slice().buffer)
    : oddWords(Float64Array.from(values));
  return encodeFloats(DTYPES.bfloat16.layout, words) as Uint16Array<ArrayBuffer>;
}

/**
 * Widens bfloat16 bits to float32 values, without loss.
 *
 * @throws TypeError when they are not in a Uint16Array, such as values that are floats already.
 */
export function fromBfloat16(bits: Uint16Array<ArrayBufferLike>): Float32Array<ArrayBuffer> {
  requireKind(bits, BITS, "fromBfloat16");
  return decodeFloats(DTYPES.bfloat16.layout, bits);
}

/** Names of other libraries and languages that do not contain their size. */
const OTHER_NAMES: Readonly<Record<string, DType>> = {
  half: "float16",
  float: "float32",
  double: "float64",
  int: "int32",
  long: "int64",
  byte: "uint8",
  boolean: "bool",
  complex: "complex64",
  cfloat: "complex64",
  c8: "complex64",
  c64: "complex64",
};

const LETTERS: Readonly<Record<string, string>> = { f: "float", i: "int", u: "uint", bf: "bfloat" };

/** Returns the type that `"f32"`, `"Float32"`, `"<f4"`, `"half"` or `Float32Array` means. */
function meantType(given: unknown): DType | undefined {
  const called = typeof given === "function" ? given.name : given;
  if (typeof called !== "string") return undefined;
  const text = called.toLowerCase().replace(/^(.*\.|big)|(array|_t)$/g, "");
  const bits = /^(bf|f|i|u)(8|16|32|64)$/.exec(text);
  const bytes = /^[<|=](f|i|u)([1248])$/.exec(text) ?? /^(f|i|u)([24])$/.exec(text);
  const name = bits !== null
    ? `${LETTERS[bits[1] ?? ""]}${bits[2]}`
    : bytes !== null
    ? `${LETTERS[bytes[1] ?? ""]}${8 * Number(bytes[2])}`
    : OTHER_NAMES[text] ?? text;
  const [, width, parts] = /^f(?:loat)?([468])_(e\dm\d)/.exec(text) ?? []; // "F8_E4M3"
  return DTYPE_NAMES.find((known) => known === name) ??
    DTYPE_NAMES.find((known) => known.startsWith(`float${width}_${parts}`));
}

/** Describes a value that is not an element type, for messages, with the type that was probably meant. */
export function describeType(given: unknown): string {
  const meant = meantType(given);
  return `${describeValue(given)}${meant === undefined ? "" : ` (did you mean "${meant}"?)`}`;
}

function describe(dtype: DType): ElementType {
  const found = typeof dtype === "string" && Object.hasOwn(DTYPES, dtype)
    ? DTYPES[dtype]
    : undefined;
  if (found === undefined) {
    const names = DTYPE_NAMES.join(", ");
    throw new TypeError(
      `Cannot use ${describeType(dtype)} as an element type: expected one of ${names}`,
    );
  }
  return found as ElementType;
}
