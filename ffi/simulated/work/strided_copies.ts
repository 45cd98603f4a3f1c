// The kit's kernels that copy between strided layouts, as the simulated driver runs them: run by run as
// far as a side has words side by side, because each look at memory is checked.

import type { SimulatedKernel } from "../options.ts";

/** One axis: steps, and words from one to the next on both sides and in a packed copy. */
interface Axis {
  readonly size: number;
  readonly to: number;
  readonly from: number;
  readonly packed: number;
}

/** The runs of one side: words that lie side by side there. */
interface Runs {
  /** The word at which each run begins there, and in the packed copy. */
  readonly places: readonly { readonly place: number; readonly packed: number }[];
  /** Where the words of a run lie in the packed copy, after its first one. */
  readonly packedWords: Int32Array;
}

/** Arrays of words by their bytes; words of eight bytes are moved as two of four. */
const WORD_ARRAYS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

/** Copies by a layout: sizes and distances of as many axes as fit, then the first words of both sides. */
const strided: SimulatedKernel = {
  run({ parameters, read, write }) {
    const [to = 0n, from = 0n] = parameters.slice(0, 2).map((value) => value.getBigUint64(0, true));
    const layout = parameters[4] ?? new DataView(new ArrayBuffer(16));
    const axisCount = (layout.byteLength / 8 - 2) / 3;
    const number = (at: number) => Number(layout.getBigInt64(8 * at, true));
    const layoutBytes = parameters[3]?.getUint32(0, true) ?? 1;
    const halves = layoutBytes === 8 ? 2 : 1;
    const wordBytes = (layoutBytes / halves) as keyof typeof WORD_ARRAYS;
    const Words = WORD_ARRAYS[wordBytes];
    const axes = axesOf(number, axisCount, halves);
    const sources = runsOf(axes, "from", number(3 * axisCount + 1) * halves);
    const packed = new Words(sources.places.length * sources.packedWords.length);
    for (const { place, packed: first } of sources.places) {
      const bytes = read(from + BigInt(place * wordBytes), sources.packedWords.length * wordBytes);
      const words = new Words(bytes.slice().buffer);
      sources.packedWords.forEach((packedWord, at) => packed[first + packedWord] = words[at] ?? 0);
    }
    const targets = runsOf(axes, "to", number(3 * axisCount) * halves);
    for (const { place, packed: first } of targets.places) {
      const words = new Words(targets.packedWords.length);
      targets.packedWords.forEach((packedWord, at) => words[at] = packed[first + packedWord] ?? 0);
      write(to + BigInt(place * wordBytes), new Uint8Array(words.buffer));
    }
  },
};

/** The kernels by name; one of them does on a GPU what another does slowly. */
export const STRIDED_KERNELS: Readonly<Record<string, SimulatedKernel>> = {
  vramkit_strided_copy: strided,
  vramkit_strided_transpose: strided,
  vramkit_strided_axes: strided,
};

/** Returns the axes of a layout, in words that are as many times as short. */
function axesOf(number: (at: number) => number, axisCount: number, parts: number): Axis[] {
  const axes: Axis[] = [{ size: parts, to: 1, from: 1, packed: 1 }];
  let packed = parts;
  for (let axis = axisCount - 1; axis >= 0; axis--) {
    const size = number(axis);
    const to = number(axisCount + axis) * parts;
    axes.push({ size, to, from: number(2 * axisCount + axis) * parts, packed });
    packed *= size;
  }
  return axes.filter((axis) => axis.size !== 1);
}

/** Finds the runs of one side: axes whose steps follow each other without a gap are one run. */
function runsOf(axes: readonly Axis[], side: "to" | "from", start: number): Runs {
  let places = [{ place: start, packed: 0 }];
  let packedWords = new Int32Array(1);
  for (const axis of axes.toSorted((a, b) => a[side] - b[side])) {
    if (axis[side] === packedWords.length) {
      const longer = new Int32Array(packedWords.length * axis.size);
      for (let at = 0; at < longer.length; at++) {
        const step = Math.floor(at / packedWords.length);
        longer[at] = (packedWords[at % packedWords.length] ?? 0) + step * axis.packed;
      }
      packedWords = longer;
      continue;
    }
    places = places.flatMap(({ place, packed }) =>
      Array.from({ length: axis.size }, (_, step) => ({
        place: place + step * axis[side],
        packed: packed + step * axis.packed,
      }))
    );
  }
  return { places, packedWords };
}
