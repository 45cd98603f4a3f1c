// The kit's kernels that copy between strided layouts, as the simulated driver runs them: row by row as
// far as a side has rows, because each look at memory is checked.

import type { SimulatedKernel } from "../options.ts";

/** One axis: steps, and words from one to the next on both sides and in a packed copy. */
interface Axis {
  readonly size: number;
  readonly to: number;
  readonly from: number;
  readonly packed: number;
}

/** Words that lie side by side on one side. */
interface Run {
  /** Word at which it begins there, and in the packed copy. */
  readonly place: number;
  readonly packed: number;
  /** Number of words, and packed words from one to the next. */
  readonly length: number;
  readonly step: number;
}

/** Axes of a layout. Behind their sizes and distances come the first words of both sides. */
const AXIS_COUNT = 8;
const LAYOUT_BYTES = (3 * AXIS_COUNT + 2) * 8;

const strided: SimulatedKernel = {
  parameterBytes: [8, 8, 8, 4, LAYOUT_BYTES],
  run({ parameters, read, write }) {
    const [to = 0n, from = 0n] = parameters.slice(0, 2).map((value) => value.getBigUint64(0, true));
    const wordBytes = parameters[3]?.getUint32(0, true) ?? 1;
    const layout = parameters[4] ?? new DataView(new ArrayBuffer(LAYOUT_BYTES));
    const number = (at: number) => Number(layout.getBigInt64(8 * at, true));
    const axes = axesOf(number);
    const [outer] = axes;
    const packed = new Uint8Array((outer?.size ?? 1) * (outer?.packed ?? 1) * wordBytes);
    const packedWord = ({ packed: first, step }: Run, at: number) => {
      const start = (first + at * step) * wordBytes;
      return packed.subarray(start, start + wordBytes);
    };
    for (const run of runsOf(axes, "from", number(3 * AXIS_COUNT + 1))) {
      const bytes = read(from + BigInt(run.place * wordBytes), run.length * wordBytes);
      for (let at = 0; at < run.length; at++) {
        packedWord(run, at).set(bytes.subarray(at * wordBytes, (at + 1) * wordBytes));
      }
    }
    for (const run of runsOf(axes, "to", number(3 * AXIS_COUNT))) {
      const bytes = new Uint8Array(run.length * wordBytes);
      for (let at = 0; at < run.length; at++) bytes.set(packedWord(run, at), at * wordBytes);
      write(to + BigInt(run.place * wordBytes), bytes);
    }
  },
};

/** The kernels by name; one of them does on a GPU what the other does slowly. */
export const STRIDED_KERNELS: Readonly<Record<string, SimulatedKernel>> = {
  vramkit_strided_copy: strided,
  vramkit_strided_transpose: strided,
};

function axesOf(number: (at: number) => number): Axis[] {
  let packed = 1;
  const axes: Axis[] = [];
  for (let axis = AXIS_COUNT - 1; axis >= 0; axis--) {
    const size = number(axis);
    axes.unshift({
      size,
      to: number(AXIS_COUNT + axis),
      from: number(2 * AXIS_COUNT + axis),
      packed,
    });
    packed *= size;
  }
  return axes;
}

/** Walks the runs of one side. */
function* runsOf(axes: readonly Axis[], side: "to" | "from", start: number): Generator<Run> {
  const row = axes.find((axis) => axis.size > 1 && axis[side] === 1);
  let places = [{ place: start, packed: 0 }];
  for (const axis of axes) {
    if (axis === row || axis.size === 1) continue;
    places = places.flatMap(({ place, packed }) =>
      Array.from({ length: axis.size }, (_, step) => ({
        place: place + step * axis[side],
        packed: packed + step * axis.packed,
      }))
    );
  }
  for (const place of places) yield { ...place, length: row?.size ?? 1, step: row?.packed ?? 1 };
}
