// Floats of at most 16 bits by the layout of their bits, as in the Open Compute Project's formats:
// decoded to float32 without loss, encoded rounded once, with the results of Python's ml_dtypes.

/** The layout of a float's bits: a sign, an exponent and a mantissa. */
export interface FloatLayout {
  readonly bits: 4 | 6 | 8 | 16;
  readonly mantissaBits: number;
  /** Subtracted from the exponent that is stored. */
  readonly bias: number;
  /** The bits of the largest number. */
  readonly largest: number;
  /**
   * Beside the numbers there are infinities and NaNs, as IEEE 754 has them; one NaN behind the largest
   * number; one in place of -0; nothing, so that numbers that are too large become the largest; or one
   * NaN and neither sign nor zero nor mantissa, as scales have it.
   */
  readonly specials: "ieee" | "nan" | "one-zero" | "none" | "scale";
}

const FLAGS = { ieee: 64, nan: 0, "one-zero": 128, none: 0, scale: 256 } as const;

/** Returns the number by which the kernels that convert elements know a layout. */
export function layoutCode(layout: FloatLayout): number {
  const { bits, mantissaBits, bias, largest, specials } = layout;
  return (32 | FLAGS[specials] | mantissaBits << 9 | bits << 12 | largest << 16 | bias << 24) >>> 0;
}

/** Reads the number of a layout of at most 8 bits; undefined for all other element types. */
export function layoutOfCode(code: number): FloatLayout | undefined {
  if ((code & 32) === 0) return undefined;
  const bits = code >> 12 & 15;
  const specials =
    Object.entries(FLAGS).find(([, flag]) => flag !== 0 && (code & flag) !== 0)?.[0] ??
      (bits < 8 ? "none" : "nan");
  return {
    bits,
    mantissaBits: code >> 9 & 7,
    bias: code >>> 24,
    largest: code >> 16 & 255,
    specials,
  } as FloatLayout;
}

/** One float as its bits. */
const CELL = new Float32Array(1);
const CELL_WORD = new Uint32Array(CELL.buffer);

/** Encodes floats, given as the bits of float32: rounded to nearest even, scales up from the middle. */
export function encodeFloats(
  layout: FloatLayout,
  words: Uint32Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> {
  const { bits, mantissaBits, bias, largest, specials } = layout;
  const codes = bits > 8 ? new Uint16Array(words.length) : new Uint8Array(words.length);
  const shift = 23 - mantissaBits;
  const half = (1 << shift - 1) - 1;
  const [leastNormal, rebase] = [128 - bias << 23, 127 - bias << 23];
  // Added to a number below the normal ones, it moves the bits that are kept to the end.
  const magicWord = CELL_WORD[0] = 151 - bias - mantissaBits << 23;
  const magic = CELL[0] ?? 0;
  const isFinite = specials === "none";
  const most = isFinite ? largest : largest + 1;
  const nan = specials === "ieee" ? most | 1 << mantissaBits - 1 : largest + 1;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0;
    const magnitude = word & 0x7fffffff;
    if (specials === "scale") {
      // Numbers between the two least ones become the larger.
      const near = magnitude < 0x800000
        ? Number(magnitude > 0x400000)
        : magnitude + 0x400000 >>> 23;
      codes[i] = word === 0 || word > 0x7f800000 ? nan : Math.min(near, nan);
      continue;
    }
    const sign = word >>> 31 << bits - 1;
    let code = nan;
    if (magnitude <= 0x7f800000) {
      if (magnitude >= leastNormal) {
        const rebased = magnitude - rebase;
        code = rebased + half + (rebased >>> shift & 1) >>> shift;
      } else {
        CELL_WORD[0] = magnitude;
        CELL[0] = (CELL[0] ?? 0) + magic;
        code = (CELL_WORD[0] ?? 0) - magicWord;
      }
      code = Math.min(code, most);
      if (code === 0 && specials === "one-zero") continue;
    }
    codes[i] = code | sign;
  }
  return codes;
}

/** Values of the types of at most 8 bits, by their bits. */
const tables = new Map<number, Float32Array<ArrayBuffer>>();

export function decodeFloats(
  layout: FloatLayout,
  codes: ArrayLike<number>,
): Float32Array<ArrayBuffer> {
  const values = new Float32Array(codes.length);
  if (layout.bits === 16) {
    const words = new Uint32Array(values.buffer);
    for (let i = 0; i < words.length; i++) words[i] = (codes[i] ?? 0) << 16;
    return values;
  }
  const table = tables.getOrInsertComputed(
    layoutCode(layout),
    () => Float32Array.from({ length: 2 ** layout.bits }, (_, code) => valueOf(layout, code)),
  );
  for (let i = 0; i < values.length; i++) values[i] = table[codes[i] ?? 0] ?? NaN;
  return values;
}

function valueOf(
  { bits, mantissaBits, bias, largest, specials }: FloatLayout,
  code: number,
): number {
  if (specials === "scale") return code > largest ? NaN : 2 ** (code - bias);
  const signBit = 2 ** (bits - 1);
  const [magnitude, sign] = code < signBit ? [code, 1] : [code - signBit, -1];
  if (specials === "one-zero" && code === signBit) return NaN;
  if (magnitude > largest) {
    return specials === "ieee" && magnitude === largest + 1 ? sign * Infinity : NaN;
  }
  const [exponent, mantissa] = [magnitude >> mantissaBits, magnitude & 2 ** mantissaBits - 1];
  const digits = exponent === 0 ? mantissa : mantissa + 2 ** mantissaBits;
  return sign * digits * 2 ** (Math.max(exponent, 1) - bias - mantissaBits);
}

/**
 * Rounds numbers to the bits of float32 so that the last bit records any lost remainder (round to
 * odd): rounding the result again gives the same as rounding once. NaN gets one pattern.
 */
export function oddWords(values: Float64Array): Uint32Array<ArrayBuffer> {
  const floats = Float32Array.from(values);
  const words = new Uint32Array(floats.buffer);
  for (let i = 0; i < words.length; i++) {
    const [value = 0, float = 0, word = 0] = [values[i], floats[i], words[i]];
    if (Number.isNaN(value)) words[i] = 0x7fc00000;
    else if (float !== value) words[i] = (Math.abs(float) > Math.abs(value) ? word - 1 : word) | 1;
  }
  return words;
}

/** Packs elements of 4 or 6 bits side by side, from the lowest bit of a byte on; zeros end the last. */
export function packBits(codes: ArrayLike<number>, bits: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil(codes.length * bits / 8));
  for (let i = 0; i < codes.length; i++) {
    const [at, shift] = [Math.floor(i * bits / 8), i * bits % 8];
    const word = (codes[i] ?? 0) << shift;
    bytes[at] = (bytes[at] ?? 0) | word;
    if (word > 255) bytes[at + 1] = word >> 8;
  }
  return bytes;
}

/** Unpacks `count` elements of 4 or 6 bits, from element `start` of the bytes on. */
export function unpackBits(
  bytes: Uint8Array,
  { bits, start = 0, count }: { bits: number; start?: number; count: number },
): Uint8Array<ArrayBuffer> {
  const codes = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const bit = (start + i) * bits;
    const at = Math.floor(bit / 8);
    codes[i] = ((bytes[at] ?? 0) | (bytes[at + 1] ?? 0) << 8) >> bit % 8 & 2 ** bits - 1;
  }
  return codes;
}
