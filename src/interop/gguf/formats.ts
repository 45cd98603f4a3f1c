// The element types of GGUF files: ggml's numbers for them, and the sizes of their blocks.

import type { DType } from "../../dtype.ts";

/** One row: name, elements of a block, bytes of a block, and the kit's type of whole elements. */
type Row<Name extends string> = readonly [
  name: Name,
  blockLength: number,
  blockBytes: number,
  dtype?: DType,
];

/**
 * Element types by ggml's numbers: the name, the elements and the bytes of a block, and the kit's type where
 * elements are not quantized. Numbers that ggml has given up are left out.
 */
export const GGUF_FORMATS = {
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
} as const satisfies Readonly<Record<number, Row<string>>>;

/** Name of an element type of GGUF files, as ggml has it. */
export type GgufFormat = (typeof GGUF_FORMATS)[keyof typeof GGUF_FORMATS][0];

/** Returns the row of a number; undefined when ggml has no such type. */
export function ggufFormat(number: number): Row<GgufFormat> | undefined {
  return Object.hasOwn(GGUF_FORMATS, number)
    ? GGUF_FORMATS[number as keyof typeof GGUF_FORMATS]
    : undefined;
}
