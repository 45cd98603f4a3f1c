// Element types: names, bytes of one element, and the typed array that holds the elements. Names
// are NumPy's and DLPack's; bfloat16 has no typed array, so its values travel as float32.

import { describeValue, formatBytes } from "./words/format.ts";
import { oneOf, type OptionKind, requireKind } from "./words/options.ts";

/** The facts about an element type. */
interface ElementType {
  readonly bytes: number;
  /** Holds the elements bit for bit. */
  readonly array: TypedArrayConstructor;
  /** DLPack's type code: int 0, uint 1, float 2, bfloat 4, bool 6. */
  readonly dlpackCode: number;
}

/** A typed array class. */
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

/** Name of an element type, such as `"float32"`. Names are those of NumPy and DLPack. */
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
  | "bool";

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
}

const DTYPES = {
  float16: { bytes: 2, array: Float16Array, dlpackCode: 2 },
  bfloat16: { bytes: 2, array: Uint16Array, dlpackCode: 4 },
  float32: { bytes: 4, array: Float32Array, dlpackCode: 2 },
  float64: { bytes: 8, array: Float64Array, dlpackCode: 2 },
  int8: { bytes: 1, array: Int8Array, dlpackCode: 0 },
  int16: { bytes: 2, array: Int16Array, dlpackCode: 0 },
  int32: { bytes: 4, array: Int32Array, dlpackCode: 0 },
  int64: { bytes: 8, array: BigInt64Array, dlpackCode: 0 },
  uint8: { bytes: 1, array: Uint8Array, dlpackCode: 1 },
  uint16: { bytes: 2, array: Uint16Array, dlpackCode: 1 },
  uint32: { bytes: 4, array: Uint32Array, dlpackCode: 1 },
  uint64: { bytes: 8, array: BigUint64Array, dlpackCode: 1 },
  bool: { bytes: 1, array: Uint8Array, dlpackCode: 6 },
} as const satisfies Record<DType, ElementType> satisfies Record<keyof BitArrays, ElementType>;

/** The typed array that holds elements of `D` bit for bit (bfloat16: the bits in a Uint16Array). */
export type BitsOf<D extends DType> = BitArrays[D];

/** The typed array that shows values of `D`: bfloat16 widens to Float32Array without loss. */
export type ArrayOf<D extends DType> = D extends "bfloat16" ? Float32Array<ArrayBuffer> : BitsOf<D>;

/** The element type that a typed array's class stands for. */
export type DTypeOf<A extends HostArray> = A extends Uint8ClampedArray<ArrayBufferLike> ? "uint8"
  : A extends HostArray ? {
      [D in Exclude<DType, "bfloat16" | "bool">]: A[typeof Symbol.toStringTag] extends
        BitArrays[D][typeof Symbol.toStringTag] ? D : never;
    }[Exclude<DType, "bfloat16" | "bool">]
  : never;

/**
 * One element of `D` in JavaScript: bigint for 64-bit integers, number for the rest. It is a table and no
 * condition, so that functions over several types may pass a number for their `D`.
 */
export type ScalarOf<D extends DType> = {
  readonly [K in DType]: K extends "int64" | "uint64" ? bigint : number;
}[D];

/** Names of all element types. */
export const DTYPE_NAMES: readonly DType[] = Object.keys(DTYPES) as DType[];

/** The name of an element type. */
export const DTYPE: OptionKind = { ...oneOf(...DTYPE_NAMES), describe: describeType };

/** Bytes of one element. */
export function elementBytes(dtype: DType): number {
  return describe(dtype).bytes;
}

/** DLPack's type code of an element type. */
export function dlpackCode(dtype: DType): number {
  return describe(dtype).dlpackCode;
}

/**
 * Makes a zeroed array that holds `length` elements of `dtype` bit for bit.
 *
 * @throws RangeError when the host has no memory for it.
 */
export function allocateBits<D extends DType>(dtype: D, length: number): BitsOf<D> {
  const { array, bytes } = describe(dtype);
  try {
    return new array(length) as BitsOf<D>;
  } catch (cause) {
    throw new RangeError(
      `Cannot make an array of ${formatBytes(length * bytes)}: the host has no memory for it`,
      { cause },
    );
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
  const { array } = describe(dtype);
  return new array(new array(buffer, byteOffset, length) as never) as BitsOf<D>;
}

/** Conversions between float32 values and 16-bit floats. */
interface HalfFloats {
  /** Rounds to nearest even; the result holds the elements bit for bit. */
  readonly narrow: (values: Float32Array<ArrayBufferLike>) => HostArray;
  /** Widens 16-bit floats in memory to float32, without loss. */
  readonly widen: (memory: ArrayBufferLike, byteOffset: number, length: number) => Float32Array;
}

/** The 16-bit float types, to which a Float32Array is narrowed. */
export const HALF_FLOATS: { readonly [D in DType]?: HalfFloats } = {
  float16: {
    narrow: (values) => new Float16Array(values),
    widen: (...memory) => new Float32Array(new Float16Array(...memory)),
  },
  bfloat16: {
    narrow: toBfloat16,
    widen: (...memory) => fromBfloat16(new Uint16Array(...memory)),
  },
};

/** Creates a typed array over existing memory, all of it or `length` elements, bit for bit. */
export function viewBits<D extends DType>(
  dtype: D,
  memory: { buffer: ArrayBufferLike; byteOffset?: number; length?: number },
): BitsOf<D> {
  const { buffer, byteOffset = 0, length } = memory;
  return new (describe(dtype).array)(buffer, byteOffset, length) as BitsOf<D>;
}

/** The element type of each kind of typed array, by the tag that subclasses keep. */
const DTYPE_OF_TAG: Readonly<Record<string, DType>> = {
  ...Object.fromEntries(
    DTYPE_NAMES.filter((name) => name !== "bfloat16" && name !== "bool")
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
    : roundedToOdd(Float64Array.from(values));
  const bits = new Uint16Array(words.length);
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0;
    const isNaN = (word & 0x7fffffff) > 0x7f800000;
    bits[i] = isNaN ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return bits;
}

/**
 * Rounds values to float32 bits so that the last bit records any lost remainder (round to odd):
 * rounding the result again gives the same as rounding once.
 */
function roundedToOdd(values: Float64Array): Uint32Array<ArrayBuffer> {
  const floats = Float32Array.from(values);
  const words = new Uint32Array(floats.buffer);
  for (const [i, value] of values.entries()) {
    const [word = 0, float = 0] = [words[i], floats[i]];
    if (float === value || Number.isNaN(value)) continue;
    words[i] = (Math.abs(float) > Math.abs(value) ? word - 1 : word) | 1;
  }
  return words;
}

/**
 * Widens bfloat16 bits to float32 values, without loss.
 *
 * @throws TypeError when they are not in a Uint16Array, such as values that are floats already.
 */
export function fromBfloat16(bits: Uint16Array<ArrayBufferLike>): Float32Array<ArrayBuffer> {
  requireKind(bits, BITS, "fromBfloat16");
  const words = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) words[i] = (bits[i] ?? 0) << 16;
  return new Float32Array(words.buffer);
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
  return DTYPE_NAMES.find((known) => known === name);
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
    throw new TypeError(
      `Cannot use ${describeType(dtype)} as an element type: expected one of ${
        DTYPE_NAMES.join(", ")
      }`,
    );
  }
  return found as ElementType;
}
