// The kit's kernels that convert element types, as the simulated driver runs them: the same results as
// a GPU's, to the last bit.

import type { SimulatedKernel, SimulatedLaunch } from "../options.ts";
import {
  decodeFloats,
  encodeFloats,
  type FloatLayout,
  layoutOfCode,
  oddWords,
  packBits,
  unpackBits,
} from "../../small_floats.ts";
import type { Launch } from "./kernel.ts";
import { gather } from "./strided_memory.ts";

/** Numbers that hold all values of a type: those of 64 bits as bigints. */
type Numbers = ArrayLike<number> | ArrayLike<bigint>;

/** An element type, by its number in the kernels. */
export interface ElementType {
  /** Bytes of one element; a part of one where elements are packed. */
  readonly bytes: number;
  /** It holds whole numbers of 64 bits. */
  readonly isWide: boolean;
  readonly read: (bytes: Uint8Array<ArrayBuffer>) => Numbers;
  /** Writes numbers as elements, each rounded once. */
  readonly write: (values: Float64Array) => Uint8Array;
}

const BOOL = 12;
const COMPLEX = 19;

const TYPES: Readonly<Record<number, ElementType>> = {
  0: plain(Uint8Array),
  1: plain(Uint16Array),
  2: plain(Uint32Array),
  3: wide(BigUint64Array),
  4: plain(Int8Array),
  5: plain(Int16Array),
  6: plain(Int32Array),
  7: wide(BigInt64Array),
  9: { ...plain(Float16Array), write: (values) => bytesOf(withOneNaN(new Float16Array(values))) },
  10: { ...plain(Float32Array), write: (values) => bytesOf(withOneNaN(new Float32Array(values))) },
  11: { ...plain(Float64Array), write: (values) => bytesOf(withOneNaN(values)) },
  [BOOL]: {
    ...plain(Uint8Array),
    read: (bytes) => bytes.map((byte) => byte === 0 ? 0 : 1),
    write: (values) => Uint8Array.from(values, (value) => value === 0 ? 0 : 1),
  },
  13: floats(
    { bits: 16, mantissaBits: 7, bias: 127, largest: 0x7f7f, specials: "ieee" },
    Uint16Array,
  ),
  [COMPLEX]: {
    bytes: 8,
    isWide: false,
    read: ({ buffer }) => new Float32Array(buffer).filter((_, at) => at % 2 === 0),
    write: (values) => {
      const parts = new Float32Array(2 * values.length);
      for (const [at, value] of values.entries()) parts[2 * at] = value;
      return bytesOf(withOneNaN(parts));
    },
  },
};

/** Numbers that a type has two of, as unsigned integers move them. */
const BIT_TYPES = 4;

const PIECE_ELEMENTS = 1 << 17;

/** Bytes of a layout: sizes and strides of eight axes, and the index of the first element. */
const AXIS_COUNT = 8;
const LAYOUT_BYTES = (2 * AXIS_COUNT + 1) * 8;

function run(launch: SimulatedLaunch): void {
  const { to, from, count, toType, fromType } = argumentsOf(launch);
  for (let start = 0; start < count; start += PIECE_ELEMENTS) {
    const length = Math.min(PIECE_ELEMENTS, count - start); // whole bytes of packed elements
    const bytes = typeOf(fromType).bytes;
    const elements = launch.read(from + BigInt(start * bytes), length * bytes);
    const place = to + BigInt(start * typeOf(toType).bytes);
    launch.write(place, converted(elements, fromType, toType));
  }
}

function strided(launch: Launch): void {
  const { to, from, count, toType, fromType } = argumentsOf(launch);
  const layout = launch.parameters[5] ?? new DataView(new ArrayBuffer(LAYOUT_BYTES));
  const word = (at: number) => Number(layout.getBigInt64(8 * at, true));
  if (word(AXIS_COUNT - 1) === count && word(2 * AXIS_COUNT - 1) === 1) return run(launch);
  const elements = gather(launch, {
    address: from,
    elementBytes: typeOf(fromType).bytes,
    start: word(2 * AXIS_COUNT),
    sizes: Array.from({ length: AXIS_COUNT }, (_, axis) => word(axis)),
    strides: Array.from({ length: AXIS_COUNT }, (_, axis) => word(AXIS_COUNT + axis)),
  });
  launch.write(to, converted(elements, fromType, toType));
}

export const CONVERSION_KERNELS: Readonly<Record<string, SimulatedKernel>> = {
  vramkit_convert: { run },
  vramkit_convert_strided: { run: strided },
  vramkit_convert_any: { run: strided },
};

function argumentsOf({ parameters }: SimulatedLaunch) {
  const long = (at: number) => parameters[at]?.getBigUint64(0, true) ?? 0n;
  const int = (at: number) => parameters[at]?.getUint32(0, true) ?? 0;
  return { to: long(0), from: long(1), count: Number(long(2)), toType: int(3), fromType: int(4) };
}

/** Returns an element type by its number in the kernels. */
export function typeOf(code: number): ElementType {
  const layout = layoutOfCode(code);
  const found = layout === undefined ? TYPES[code] : floats(layout, Uint8Array);
  if (found === undefined) throw new RangeError(`Cannot convert elements of type ${code}`);
  return found;
}

function converted(elements: Uint8Array<ArrayBuffer>, from: number, to: number): Uint8Array {
  if (from === to && from < BIT_TYPES) return elements;
  if (from === COMPLEX && to === BOOL) {
    const parts = new Float32Array(elements.buffer);
    return Uint8Array.from({ length: parts.length / 2 }, (_, at) => {
      return parts[2 * at] !== 0 || parts[2 * at + 1] !== 0 ? 1 : 0;
    });
  }
  const [source, target] = [typeOf(from), typeOf(to)];
  const values = source.read(elements);
  if (target.isWide) return bytesOf(BigUint64Array.from(values as ArrayLike<number>, wholeOf));
  if (!source.isWide) return target.write(Float64Array.from(values as ArrayLike<number>));
  // A float of 64 bits is rounded to nearest, a smaller one must not be rounded twice, and whole
  // numbers and truths are told by the lowest bits.
  const numberOf = to === 11 ? Number : to > 8 && to !== BOOL ? oddNumberOf : lowWordOf;
  const numbers = Float64Array.from(
    values as unknown as ArrayLike<number>,
    (value) => to === BOOL ? Number(BigInt(value) !== 0n) : numberOf(BigInt(value)),
  );
  return target.write(numbers);
}

/** Cuts a number to a whole one of 64 bits; NaN and the infinities are 0. */
function wholeOf(value: number | bigint): bigint {
  if (typeof value === "bigint") return BigInt.asUintN(64, value);
  return Number.isFinite(value) ? BigInt.asUintN(64, BigInt(Math.trunc(value))) : 0n;
}

function lowWordOf(value: bigint): number {
  return Number(BigInt.asUintN(32, value));
}

/** Rounds to 53 bits so that the last one tells a lost remainder: rounding again is rounding once. */
function oddNumberOf(value: bigint): number {
  const magnitude = value < 0n ? -value : value;
  const lostBits = Math.max(0, magnitude.toString(2).length - 53);
  const kept = magnitude >> BigInt(lostBits);
  const isExact = kept << BigInt(lostBits) === magnitude;
  const odd = Number(isExact ? kept : kept | 1n) * 2 ** lostBits;
  return value < 0n ? -odd : odd;
}

/** Floats that JavaScript has no array for. */
function floats(
  layout: FloatLayout,
  Codes: typeof Uint8Array | typeof Uint16Array,
): ElementType {
  const { bits } = layout;
  return {
    bytes: bits / 8,
    isWide: false,
    read: (bytes) => {
      const count = bytes.length * 8 / bits;
      const codes = bits < 8 ? unpackBits(bytes, { bits, count }) : new Codes(bytes.buffer);
      return decodeFloats(layout, codes);
    },
    write: (values) => {
      const codes = encodeFloats(layout, oddWords(values));
      return bits < 8 ? packBits(codes, bits) : bytesOf(codes);
    },
  };
}

/** NaN has many bit patterns; the results have one. */
function withOneNaN<A extends Float16Array | Float32Array | Float64Array>(values: A): A {
  for (let at = 0; at < values.length; at++) if (Number.isNaN(values[at])) values[at] = NaN;
  return values;
}

/** A typed array class whose elements are numbers. */
interface NumberArray {
  readonly BYTES_PER_ELEMENT: number;
  new (values: ArrayBuffer | ArrayLike<number>): ArrayLike<number> & ArrayBufferView;
}

function plain(Elements: NumberArray): ElementType {
  return {
    bytes: Elements.BYTES_PER_ELEMENT,
    isWide: false,
    read: ({ buffer }) => new Elements(buffer),
    write: (values) => bytesOf(new Elements(values)),
  };
}

function wide(Elements: typeof BigUint64Array | typeof BigInt64Array): ElementType {
  return {
    bytes: 8,
    isWide: true,
    read: ({ buffer }) => new Elements(buffer),
    write: (values) =>
      bytesOf(BigUint64Array.from(values as unknown as ArrayLike<bigint>, wholeOf)),
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
