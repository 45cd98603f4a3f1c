// The element types of the safetensors format, and how device buffers hold them.

import type { Shape } from "../../buffers/shape.ts";
import type { DType } from "../../dtype.ts";

/** Name of an element type in the safetensors format. */
export type SafetensorsFormat =
  | "BOOL"
  | "F4"
  | "F6_E2M3"
  | "F6_E3M2"
  | "U8"
  | "I8"
  | "F8_E5M2"
  | "F8_E4M3"
  | "F8_E8M0"
  | "F8_E4M3FNUZ"
  | "F8_E5M2FNUZ"
  | "I16"
  | "U16"
  | "F16"
  | "BF16"
  | "I32"
  | "U32"
  | "F32"
  | "C64"
  | "F64"
  | "I64"
  | "U64";

/** The form in which a device buffer holds elements of one of the format's types. */
interface Format {
  readonly bits: number;
  /** The buffer's element type. */
  readonly dtype: DType;
  /** Representation of one element in the buffer: itself, two floats, or a part of a byte. */
  readonly holds: "element" | "pair" | "bits";
}

function element(dtype: DType, bits: number): Format {
  return { bits, dtype, holds: "element" };
}

/** In reverse order of their place in a file, which starts with the widest elements. */
const FORMATS: Readonly<Record<SafetensorsFormat, Format>> = {
  BOOL: element("bool", 8),
  F4: { bits: 4, dtype: "uint8", holds: "bits" },
  F6_E2M3: { bits: 6, dtype: "uint8", holds: "bits" },
  F6_E3M2: { bits: 6, dtype: "uint8", holds: "bits" },
  U8: element("uint8", 8),
  I8: element("int8", 8),
  F8_E5M2: element("uint8", 8),
  F8_E4M3: element("uint8", 8),
  F8_E8M0: element("uint8", 8),
  F8_E4M3FNUZ: element("uint8", 8),
  F8_E5M2FNUZ: element("uint8", 8),
  I16: element("int16", 16),
  U16: element("uint16", 16),
  F16: element("float16", 16),
  BF16: element("bfloat16", 16),
  I32: element("int32", 32),
  U32: element("uint32", 32),
  F32: element("float32", 32),
  C64: { bits: 64, dtype: "float32", holds: "pair" },
  F64: element("float64", 64),
  I64: element("int64", 64),
  U64: element("uint64", 64),
};

const NAMES = Object.keys(FORMATS) as SafetensorsFormat[];
const KNOWN: ReadonlyMap<unknown, SafetensorsFormat> = new Map(NAMES.map((name) => [name, name]));

/** Returns the type of a name; undefined when the format has no such type. */
export function toFormat(name: unknown): SafetensorsFormat | undefined {
  return KNOWN.get(name);
}

/** Bits of one element. */
export function formatBits(format: SafetensorsFormat): number {
  return FORMATS[format].bits;
}

/** Returns the rank of a type's tensors in a file: higher ranks come first. */
export function formatRank(format: SafetensorsFormat): number {
  return NAMES.indexOf(format);
}

/** Returns the format's type that holds a buffer's elements as they are. */
export function formatOf(dtype: DType): SafetensorsFormat {
  const found = NAMES.find((name) => {
    const format = FORMATS[name];
    return format.dtype === dtype && format.holds === "element";
  });
  if (found === undefined) {
    throw new TypeError(`Cannot save ${dtype}: safetensors has no such type`);
  }
  return found;
}

/**
 * Returns the shape of a buffer's elements as a type of the format: the reverse of {@link heldAs}.
 *
 * @throws TypeError when the type is not held so; the message is what is wrong with the buffer.
 */
export function shapeAs(
  format: SafetensorsFormat,
  { dtype, shape }: HeldAs,
): Shape {
  const held = FORMATS[format];
  if (dtype !== held.dtype) {
    throw new TypeError(`it is ${dtype}, ${format} is held as ${held.dtype}`);
  }
  if (held.holds === "element") return shape;
  const last = shape.at(-1);
  const rest = shape.slice(0, -1);
  if (held.holds === "pair") {
    if (last === 2) return rest;
    throw new TypeError(`its last axis is ${last ?? "missing"}, ${format} has two floats there`);
  }
  const count = (last ?? 0) * 8 / held.bits;
  if (last !== undefined && Number.isInteger(count)) return [...rest, count];
  throw new TypeError(`its last axis of ${last ?? "no"} bytes is no whole number of ${format}`);
}

/** Element type and shape of the buffer that holds a tensor of a file. */
export interface HeldAs {
  /** The buffer's element type. */
  readonly dtype: DType;
  /** The buffer's shape. */
  readonly shape: Shape;
}

/**
 * Returns the buffer type and shape for a tensor: the tensor's own for most types. 8-bit floats
 * become uint8 of the same shape, complex numbers float32 with a last axis of two, and floats of 4
 * and 6 bits become bytes.
 */
export function heldAs(
  format: SafetensorsFormat,
  tensor: { readonly shape: Shape; readonly byteLength: number },
): HeldAs {
  const { dtype, holds } = FORMATS[format];
  if (holds === "bits") return { dtype, shape: [tensor.byteLength] };
  return { dtype, shape: holds === "pair" ? [...tensor.shape, 2] : tensor.shape };
}
