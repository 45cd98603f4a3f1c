// The kit's own kernels as the simulated driver runs them: what their source in CUDA C++ says, in
// JavaScript. Each does the same to the last bit, so that results agree with those of a GPU.

import { roundUp } from "../../alignment.ts";
import { costOf } from "../model/device.ts";
import type { SimulatedKernel, SimulatedLaunch } from "../options.ts";
import { CONVERSION_KERNELS } from "./conversions.ts";
import { STRIDED_KERNELS } from "./strided_copies.ts";

/** Elements that a run of numbers is written in, by the name of its kernel. */
const INTEGER_ARRAYS = {
  vramkit_iota_u8: Uint8Array,
  vramkit_iota_u16: Uint16Array,
  vramkit_iota_u32: Uint32Array,
  vramkit_iota_u64: BigUint64Array,
} as const;

const FLOAT_ARRAYS = {
  vramkit_iota_f32: Float32Array,
  vramkit_iota_f64: Float64Array,
} as const;

/** Virtual time of one access by a kernel that waits for the one before. */
const ACCESS_SECONDS = 0.6e-6;
const HOST_ACCESS_SECONDS = 1.2e-6;

/** Bytes that are read at a time. */
const PIECE_BYTES = 1 << 20;

const firstDifference: SimulatedKernel = {
  run(launch) {
    const [one, other, byteLength, result] = numbersOf(launch);
    for (const { start, length } of piecesOf(Number(byteLength))) {
      const [a, b] = [one, other].map((address) => launch.read(address + BigInt(start), length));
      const at = a?.findIndex((byte, index) => byte !== b?.[index]) ?? -1;
      if (at < 0) continue;
      const found = BigUint64Array.of(BigInt(start + at));
      launch.write(result, found);
      return;
    }
  },
};

const checksum: SimulatedKernel = {
  run(launch) {
    const [address, byteLength, result] = numbersOf(launch);
    const former = new Uint32Array(launch.read(result, 8).buffer);
    const sums = Uint32Array.from(former);
    for (const { start, length } of piecesOf(Number(byteLength))) {
      const padded = new Uint8Array(roundUp(length, 4));
      padded.set(launch.read(address + BigInt(start), length));
      addWords(sums, new Uint32Array(padded.buffer), start / 4);
    }
    launch.write(result, sums);
  },
};

/** The same bytes again and again; a GPU has room for as many as the last parameter. */
const repeat: SimulatedKernel = {
  run(launch) {
    const [address, byteLength, patternBytes] = numbersOf(launch);
    const { buffer, byteOffset } = launch.parameters[3] ?? new DataView(new ArrayBuffer(0));
    const pattern = new Uint8Array(buffer, byteOffset, Number(patternBytes));
    // Whole patterns in a piece, so that each piece begins with the first byte.
    const bytes = new Uint8Array(roundUp(PIECE_BYTES, pattern.length));
    for (let at = 0; at < bytes.length; at += pattern.length) bytes.set(pattern, at);
    for (let start = 0; start < Number(byteLength); start += bytes.length) {
      const rest = Number(byteLength) - start;
      launch.write(address + BigInt(start), bytes.subarray(0, rest));
    }
  },
};

const copy: SimulatedKernel = {
  run(launch) {
    const [to, from, byteLength] = numbersOf(launch);
    for (const { start, length } of piecesOf(Number(byteLength))) {
      launch.write(to + BigInt(start), launch.read(from + BigInt(start), length));
    }
  },
};

const chase: SimulatedKernel = {
  run(launch) {
    const [start, count, end] = numbersOf(launch);
    const places: bigint[] = [];
    let at = start;
    // A ring of addresses leads back to its start: what comes behind is known then.
    while (places.length < Number(count) && (at !== start || places.length === 0)) {
      places.push(at);
      at = new BigUint64Array(launch.read(at, 8).buffer)[0] ?? 0n;
    }
    const last = places.length < Number(count) ? places[Number(count) % places.length] : at;
    launch.write(end, BigUint64Array.of(last ?? at));
  },
};

/** Virtual time that a kernel of the kit takes beyond its start. */
export function secondsOf(
  kernel: SimulatedKernel,
  parameters: readonly DataView[],
  isOnHost: (address: bigint) => boolean,
): number {
  if (kernel !== chase && kernel !== copy) return 0;
  const [first = 0n, second = 0n, third = 0n] = parameters
    .map((value) => value.getBigUint64(0, true));
  if (kernel === chase) {
    return Number(second) * (isOnHost(first) ? HOST_ACCESS_SECONDS : ACCESS_SECONDS);
  }
  if (isOnHost(second)) return costOf("uploadPinned", Number(third));
  return costOf(isOnHost(first) ? "downloadPinned" : "local", Number(third));
}

/** The kernels by name. */
export const READY_KERNELS: Readonly<Record<string, SimulatedKernel>> = {
  ...Object.fromEntries(
    Object.entries(INTEGER_ARRAYS).map(([name, Elements]) => [name, integerRun(Elements)]),
  ),
  ...Object.fromEntries(
    Object.entries(FLOAT_ARRAYS).map(([name, Elements]) => [name, floatRun(Elements)]),
  ),
  vramkit_first_difference: firstDifference,
  vramkit_checksum: checksum,
  vramkit_repeat: repeat,
  vramkit_copy: copy,
  vramkit_chase: chase,
  ...CONVERSION_KERNELS,
  ...STRIDED_KERNELS,
};

/** Writes `start`, `start + step` and so on; whole numbers wrap around. */
function integerRun(
  Elements: (typeof INTEGER_ARRAYS)[keyof typeof INTEGER_ARRAYS],
): SimulatedKernel {
  const bits = Elements.BYTES_PER_ELEMENT * 8;
  return {
    run(launch) {
      const [address, count, start, step] = numbersOf(launch);
      const values = new Elements(Number(count));
      let value = start;
      for (let index = 0; index < values.length; index++, value += step) {
        const wrapped = BigInt.asUintN(bits, value);
        values[index] = bits === 64 ? wrapped : Number(wrapped);
      }
      launch.write(address, values);
    },
  };
}

/** Writes `start + index * step`, computed in 64 bits and rounded once. */
function floatRun(Elements: (typeof FLOAT_ARRAYS)[keyof typeof FLOAT_ARRAYS]): SimulatedKernel {
  return {
    run(launch) {
      const [address, count] = numbersOf(launch);
      const [start = 0, step = 0] = launch.parameters.slice(2)
        .map((value) => value.getFloat64(0, true));
      const values = new Elements(Number(count));
      for (let index = 0; index < values.length; index++) values[index] = start + index * step;
      launch.write(address, values);
    },
  };
}

/** Adds two hashes of each word and its place to two sums. */
function addWords(sums: Uint32Array, words: Uint32Array, firstIndex: number): void {
  let [low = 0, high = 0] = sums;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? 0;
    const place = firstIndex + at;
    low = (low + mixed(word ^ Math.imul(place, 0x9e3779b1))) >>> 0;
    high = (high + mixed(Math.imul(word, 0x85ebca77) ^ (place + 0x7f4a7c15))) >>> 0;
  }
  sums[0] = low;
  sums[1] = high;
}

/** Spreads the bits of a word. */
function mixed(word: number): number {
  let hash = word;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function* piecesOf(byteLength: number): Generator<{ start: number; length: number }> {
  for (let start = 0; start < byteLength; start += PIECE_BYTES) {
    yield { start, length: Math.min(PIECE_BYTES, byteLength - start) };
  }
}

function numbersOf({ parameters }: SimulatedLaunch): [bigint, bigint, bigint, bigint] {
  const [first = 0n, second = 0n, third = 0n, fourth = 0n] = parameters
    .map((value) => value.getBigUint64(0, true));
  return [first, second, third, fourth];
}
