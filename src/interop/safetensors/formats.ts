// The element types of the safetensors format, each of which buffers have.

import type { Shape } from "../../buffers/shape.ts";
import { type DType, elementBytes } from "../../dtype.ts";

/** Name of an element type in the safetensors format. */
export type SafetensorsFormat =
  | "BOOL"
  | `${"I" | "U"}${8 | 16 | 32 | 64}`
  | `F${16 | 32 | 64}`
  | "BF16"
  | "C64"
  | "F4"
  | `F6_${"E2M3" | "E3M2"}`
  | `F8_${"E5M2" | "E4M3" | "E8M0" | "E4M3FNUZ" | "E5M2FNUZ"}`;

/** The element types, in reverse order of their place in a file, which starts with the widest. */
const TYPES: Readonly<Record<SafetensorsFormat, DType>> = {
  BOOL: "bool",
  F4: "float4_e2m1fn",
  F6_E2M3: "float6_e2m3fn",
  F6_E3M2: "float6_e3m2fn",
  U8: "uint8",
  I8: "int8",
  F8_E5M2: "float8_e5m2",
  F8_E4M3: "float8_e4m3fn",
  F8_E8M0: "float8_e8m0fnu",
  F8_E4M3FNUZ: "float8_e4m3fnuz",
  F8_E5M2FNUZ: "float8_e5m2fnuz",
  I16: "int16",
  U16: "uint16",
  F16: "float16",
  BF16: "bfloat16",
  I32: "int32",
  U32: "uint32",
  F32: "float32",
  C64: "complex64",
  F64: "float64",
  I64: "int64",
  U64: "uint64",
};

const NAMES = Object.keys(TYPES) as SafetensorsFormat[];
const KNOWN: ReadonlyMap<unknown, SafetensorsFormat> = new Map(NAMES.map((name) => [name, name]));

/** Returns the type of a name; undefined when the format has no such type. */
export function toFormat(name: unknown): SafetensorsFormat | undefined {
  return KNOWN.get(name);
}

/** Returns the element type of a buffer that holds a tensor. */
export function typeOf(format: SafetensorsFormat): DType {
  return TYPES[format];
}

/** Bits of one element. */
export function formatBits(format: SafetensorsFormat): number {
  return 8 * elementBytes(TYPES[format]);
}

/** Returns the rank of a type's tensors in a file: higher ranks come first. */
export function formatRank(format: SafetensorsFormat): number {
  return NAMES.indexOf(format);
}

/** Returns the format's type that holds a buffer's elements as they are. */
export function formatOf(dtype: DType): SafetensorsFormat {
  return NAMES.find((name) => TYPES[name] === dtype) as SafetensorsFormat;
}

/**
 * Returns the shape of a buffer's elements as a type of the format. Plain buffers hold its other types as
 * well: bytes those of 8-bit and smaller floats, float32 the pairs of complex numbers in a last axis of 2.
 *
 * @throws TypeError when the type is not held so; the message is what is wrong with the buffer.
 */
export function shapeAs(
  format: SafetensorsFormat,
  { dtype, shape }: { readonly dtype: DType; readonly shape: Shape },
): Shape {
  const own = TYPES[format];
  if (dtype === own) return shape;
  const isPair = own === "complex64";
  const plain = isPair
    ? "float32"
    : format.startsWith("F") && formatBits(format) <= 8
    ? "uint8"
    : own;
  if (dtype !== plain) {
    throw new TypeError(
      `it is ${dtype}, ${format} is held as ${own}${plain === own ? "" : ` or ${plain}`}`,
    );
  }
  const last = shape.at(-1);
  const rest = shape.slice(0, -1);
  if (isPair) {
    if (last === 2) return rest;
    throw new TypeError(`its last axis is ${last ?? "missing"}, ${format} has two floats there`);
  }
  const count = (last ?? 0) * 8 / formatBits(format);
  if (last !== undefined && Number.isInteger(count)) return [...rest, count];
  if (formatBits(format) === 8) return shape;
  throw new TypeError(`its last axis of ${last ?? "no"} bytes is no whole number of ${format}`);
}
