// The kit's kernels that convert element types, as the simulated driver runs them: the same results as
// a GPU's, to the last bit.

import type { SimulatedKernel, SimulatedLaunch } from "../options.ts";
import type { Launch } from "./kernel.ts";
import { gather } from "./strided_memory.ts";

/** Numbers that hold all values of a type: those of 64 bits as bigints. */
type Numbers = ArrayLike<number> | ArrayLike<bigint>;

/** An element type, by its number in the kernels. */
interface ElementType {
  readonly bytes: number;
  /** It holds whole numbers of 64 bits. */
  readonly isWide: boolean;
  readonly read: (bytes: Uint8Array<ArrayBuffer>) => Numbers;
  /** Writes numbers as elements, each rounded once. */
  readonly write: (values: Float64Array) => Uint8Array;
}

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
  12: {
    ...plain(Uint8Array),
    read: (bytes) => bytes.map((byte) => byte === 0 ? 0 : 1),
    write: (values) => Uint8Array.from(values, (value) => value === 0 ? 0 : 1),
  },
  13: {
    bytes: 2,
    isWide: false,
    read: (bytes) => {
      const words = Uint32Array.from(new Uint16Array(bytes.buffer), (bits) => bits << 16);
      return new Float32Array(words.buffer);
    },
    write: (values) => bytesOf(bfloat16Of(values)),
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
    const length = Math.min(PIECE_ELEMENTS, count - start);
    const bytes = typeOf(fromType).bytes;
    const elements = launch.read(from + BigInt(start * bytes), length * bytes);
    const place = to + BigInt(start * typeOf(toType).bytes);
    launch.write(place, converted(elements, fromType, toType));
  }
}

function strided(launch: Launch): void {
  const { to, from, toType, fromType } = argumentsOf(launch);
  const layout = launch.parameters[5] ?? new DataView(new ArrayBuffer(LAYOUT_BYTES));
  const word = (at: number) => Number(layout.getBigInt64(8 * at, true));
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
};

function argumentsOf({ parameters }: SimulatedLaunch) {
  const long = (at: number) => parameters[at]?.getBigUint64(0, true) ?? 0n;
  const int = (at: number) => parameters[at]?.getUint32(0, true) ?? 0;
  return { to: long(0), from: long(1), count: Number(long(2)), toType: int(3), fromType: int(4) };
}

function typeOf(code: number): ElementType {
  const found = TYPES[code];
  if (found === undefined) throw new RangeError(`Cannot convert elements of type ${code}`);
  return found;
}

function converted(elements: Uint8Array<ArrayBuffer>, from: number, to: number): Uint8Array {
  if (from === to && from < BIT_TYPES) return elements;
  const [source, target] = [typeOf(from), typeOf(to)];
  const values = source.read(elements);
  if (target.isWide) return bytesOf(BigUint64Array.from(values as ArrayLike<number>, wholeOf));
  if (!source.isWide) return target.write(Float64Array.from(values as ArrayLike<number>));
  // A float of 64 bits is rounded to nearest, a smaller one must not be rounded twice, and whole
  // numbers and truths are told by the lowest bits.
  const numberOf = to === 11 ? Number : to > 8 && to !== 12 ? oddNumberOf : lowWordOf;
  const numbers = Float64Array.from(
    values as unknown as ArrayLike<number>,
    (value) => to === 12 ? Number(BigInt(value) !== 0n) : numberOf(BigInt(value)),
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

/** Rounds to bfloat16, once and to nearest even. */
function bfloat16Of(values: Float64Array): Uint16Array {
  const [float, word] = [new Float32Array(1), new Uint32Array(1)];
  const bits = new Uint32Array(float.buffer);
  return Uint16Array.from(values, (value) => {
    if (Number.isNaN(value)) return 0x7fc0;
    float[0] = value;
    word[0] = bits[0] ?? 0;
    const near = float[0] ?? 0;
    // Towards zero, with a last bit that tells a lost remainder.
    if (near !== value) word[0] = (Math.abs(near) > Math.abs(value) ? word[0] - 1 : word[0]) | 1;
    const whole = word[0];
    return (whole + 0x7fff + ((whole >>> 16) & 1)) >>> 16;
  });
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
