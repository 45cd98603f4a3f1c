// The element types of GGUF files: numbers of ggml's table, the sizes of their blocks, and the buffers
// that hold them.

import type { Shape } from "../../buffers/shape.ts";
import type { DType } from "../../dtype.ts";

/** One row: name, elements of a block, bytes of a block, and the kit's type of whole elements. */
type Row = readonly [name: string, blockLength: number, blockBytes: number, dtype?: DType];

/** The types by ggml's numbers, `enum ggml_type`; numbers that it has given up are left out. */
export const TYPES = {
  0: ["F32", 1, 4, "float32"],
  1: ["F16", 1, 2, "float16"],
  2: ["Q4_0", 32, 18],
  3: ["Q4_1", 32, 20],
  6: ["Q5_0", 32, 22],
  7: ["Q5_1", 32, 24],
  8: ["Q8_0", 32, 34],
  9: ["Q8_1", 32, 36],
  10: ["Q2_K", 256, 84],
  11: ["Q3_K", 256, 110],
  12: ["Q4_K", 256, 144],
  13: ["Q5_K", 256, 176],
  14: ["Q6_K", 256, 210],
  15: ["Q8_K", 256, 292],
  16: ["IQ2_XXS", 256, 66],
  17: ["IQ2_XS", 256, 74],
  18: ["IQ3_XXS", 256, 98],
  19: ["IQ1_S", 256, 50],
  20: ["IQ4_NL", 32, 18],
  21: ["IQ3_S", 256, 110],
  22: ["IQ2_S", 256, 82],
  23: ["IQ4_XS", 256, 136],
  24: ["I8", 1, 1, "int8"],
  25: ["I16", 1, 2, "int16"],
  26: ["I32", 1, 4, "int32"],
  27: ["I64", 1, 8, "int64"],
  28: ["F64", 1, 8, "float64"],
  29: ["IQ1_M", 256, 56],
  30: ["BF16", 1, 2, "bfloat16"],
  34: ["TQ1_0", 256, 54],
  35: ["TQ2_0", 256, 66],
  39: ["MXFP4", 32, 17],
  40: ["NVFP4", 64, 36],
  41: ["Q1_0", 128, 18],
} as const satisfies Readonly<Record<number, Row>>;

/** Name of an element type of GGUF files, as ggml has it. */
export type GgufFormat = (typeof TYPES)[keyof typeof TYPES][0];

/** An element type: single elements, or blocks of several that share a scale. */
export interface GgufFormatFacts {
  readonly name: GgufFormat;
  /** Elements of a block; 1 for types that are not quantized. */
  readonly blockLength: number;
  /** Bytes of a block. */
  readonly blockBytes: number;
  /** The kit's element type; undefined for quantized ones, whose blocks are held as bytes. */
  readonly dtype: DType | undefined;
}

const BY_NUMBER: ReadonlyMap<number, GgufFormatFacts> = new Map(
  Object.entries<readonly [GgufFormat, number, number, DType?]>(TYPES).map(([number, row]) => {
    const [name, blockLength, blockBytes, dtype] = row;
    return [Number(number), { name, blockLength, blockBytes, dtype }];
  }),
);

const DTYPES: ReadonlyMap<GgufFormat, DType | undefined> = new Map(
  BY_NUMBER.values().map(({ name, dtype }) => [name, dtype]),
);

/** Returns the type of a number; undefined when ggml has none. */
export function ggufFormat(number: number): GgufFormatFacts | undefined {
  return BY_NUMBER.get(number);
}

/** A tensor's type and shape. */
interface BlockedTensor {
  readonly format: GgufFormat;
  readonly blockLength: number;
  readonly blockBytes: number;
  readonly shape: Shape;
}

/**
 * Returns the element type and shape of the buffer for a tensor: the tensor's own, or bytes, where the
 * last axis has those of a row's blocks, as in gguf-py.
 */
export function heldBlocks(
  { format, shape, blockLength, blockBytes }: BlockedTensor,
): { readonly dtype: DType; readonly shape: Shape } {
  const dtype = DTYPES.get(format);
  if (dtype !== undefined) return { dtype, shape };
  const last = shape.at(-1) ?? 1;
  return { dtype: "uint8", shape: [...shape.slice(0, -1), last / blockLength * blockBytes] };
}
