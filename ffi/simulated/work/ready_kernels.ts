// The kit's own kernels as the simulated driver runs them: what their source in CUDA C++ says, in
// JavaScript. Each does the same to the last bit, so that results agree with those of a GPU.

import { roundUp } from "../../alignment.ts";
import { costOf } from "../model/device.ts";
import type { SimulatedKernel, SimulatedLaunch } from "../options.ts";
import { CONVERSION_KERNELS } from "./conversions.ts";
import type { Launch } from "./kernel.ts";
import { gather, scatter } from "./strided_memory.ts";

/** Virtual time of one access by a kernel that waits for the one before. */
const ACCESS_SECONDS = 0.6e-6;
const HOST_ACCESS_SECONDS = 1.2e-6;

const PIECE_BYTES = 1 << 20;

function firstDifference(launch: SimulatedLaunch): void {
  const [one, other, byteLength, result] = numbersOf(launch);
  for (const { start, length } of piecesOf(Number(byteLength))) {
    const [a, b] = [one, other].map((address) => launch.read(address + BigInt(start), length));
    const at = a?.findIndex((byte, index) => byte !== b?.[index]) ?? -1;
    if (at < 0) continue;
    return launch.write(result, BigUint64Array.of(BigInt(start + at)));
  }
}

function checksum(launch: SimulatedLaunch): void {
  const [address, byteLength, result] = numbersOf(launch);
  const former = new Uint32Array(launch.read(result, 8).buffer);
  const sums = Uint32Array.from(former);
  for (const { start, length } of piecesOf(Number(byteLength))) {
    const padded = new Uint8Array(roundUp(length, 4));
    padded.set(launch.read(address + BigInt(start), length));
    addWords(sums, new Uint32Array(padded.buffer), start / 4);
  }
  launch.write(result, sums);
}

/** The same bytes again and again; a GPU has room for as many as the last parameter. */
function repeat(launch: SimulatedLaunch): void {
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
}

function copy(launch: SimulatedLaunch): void {
  const [to, from, byteLength] = numbersOf(launch);
  for (const { start, length } of piecesOf(Number(byteLength))) {
    launch.write(to + BigInt(start), launch.read(from + BigInt(start), length));
  }
}

function chase(launch: SimulatedLaunch): void {
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
}

/** Copies by a layout: sizes and distances of as many axes as fit, then the first words of both sides. */
function strided(launch: Launch): void {
  const { parameters } = launch;
  const layout = parameters[4] ?? new DataView(new ArrayBuffer(16));
  const axisCount = (layout.byteLength / 8 - 2) / 3;
  const numbers = Array.from(
    { length: layout.byteLength / 8 },
    (_, at) => Number(layout.getBigInt64(8 * at, true)),
  );
  const sideOf = (side: number) => ({
    address: parameters[side]?.getBigUint64(0, true) ?? 0n,
    elementBytes: parameters[3]?.getUint32(0, true) ?? 1,
    start: numbers[3 * axisCount + side] ?? 0,
    sizes: numbers.slice(0, axisCount),
    strides: numbers.slice((1 + side) * axisCount, (2 + side) * axisCount),
  });
  scatter(launch, sideOf(0), gather(launch, sideOf(1)));
}

/** Virtual time that a kernel of the kit takes beyond its start. */
export function secondsOf(
  kernel: SimulatedKernel,
  parameters: readonly DataView[],
  isOnHost: (address: bigint) => boolean,
): number {
  if (kernel.run !== chase && kernel.run !== copy) return 0;
  const [first = 0n, second = 0n, third = 0n] = parameters
    .map((value) => value.getBigUint64(0, true));
  if (kernel.run === chase) {
    return Number(second) * (isOnHost(first) ? HOST_ACCESS_SECONDS : ACCESS_SECONDS);
  }
  if (isOnHost(second)) return costOf("uploadPinned", Number(third));
  return costOf(isOnHost(first) ? "downloadPinned" : "local", Number(third));
}

export const READY_KERNELS: Readonly<Record<string, SimulatedKernel>> = {
  vramkit_iota_u8: { run: integerRun(Uint8Array) },
  vramkit_iota_u16: { run: integerRun(Uint16Array) },
  vramkit_iota_u32: { run: integerRun(Uint32Array) },
  vramkit_iota_u64: { run: integerRun(BigUint64Array) },
  vramkit_iota_f32: { run: floatRun(Float32Array) },
  vramkit_iota_f64: { run: floatRun(Float64Array) },
  vramkit_first_difference: { run: firstDifference },
  vramkit_checksum: { run: checksum },
  vramkit_repeat: { run: repeat },
  vramkit_copy: { run: copy },
  vramkit_chase: { run: chase },
  ...CONVERSION_KERNELS,
  // One of them does on a GPU what another does slowly.
  vramkit_strided_copy: { run: strided },
  vramkit_strided_transpose: { run: strided },
  vramkit_strided_axes: { run: strided },
};

/** Writes `start`, `start + step` and so on; whole numbers wrap around. */
function integerRun(
  Elements:
    | typeof Uint8Array
    | typeof Uint16Array
    | typeof Uint32Array
    | typeof BigUint64Array,
): SimulatedKernel["run"] {
  const bits = Elements.BYTES_PER_ELEMENT * 8;
  return (launch) => {
    const [address, count, start, step] = numbersOf(launch);
    const values = new Elements(Number(count));
    let value = start;
    for (let index = 0; index < values.length; index++, value += step) {
      const wrapped = BigInt.asUintN(bits, value);
      values[index] = bits === 64 ? wrapped : Number(wrapped);
    }
    launch.write(address, values);
  };
}

/** Writes `start + index * step`, computed in 64 bits and rounded once. */
function floatRun(Elements: typeof Float32Array | typeof Float64Array): SimulatedKernel["run"] {
  return (launch) => {
    const [address, count] = numbersOf(launch);
    const [start = 0, step = 0] = launch.parameters.slice(2)
      .map((value) => value.getFloat64(0, true));
    launch.write(address, new Elements(Number(count)).map((_, at) => start + at * step));
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
