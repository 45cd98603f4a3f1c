// Elements of memory in a strided layout, as the kit's kernels read and write them: rows at a time, because
// each look at memory is checked, and never what lies between them, which others may write.

import type { Launch, Rows } from "./kernel.ts";

/** A layout of elements in memory. */
export interface StridedMemory {
  readonly address: bigint;
  readonly elementBytes: number;
  /** Elements from the address to the first one. */
  readonly start: number;
  readonly sizes: readonly number[];
  /** Elements from one step of each axis to the next. */
  readonly strides: readonly number[];
}

/** One axis: steps, and words from one to the next in memory and in a packed copy. */
interface Axis {
  readonly size: number;
  readonly stride: number;
  readonly packed: number;
}

/** Places of words: rows of runs, from several places on. */
interface Layout {
  /** The words at which each set of rows begins in memory and in the packed copy. */
  readonly places: readonly { readonly place: number; readonly packed: number }[];
  readonly rows: Axis;
  /** Places in the packed copy of the words of a run, which lie side by side in memory. */
  readonly run: Int32Array;
}

/** Arrays of words by their bytes; elements of eight bytes are two words. */
const WORD_ARRAYS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

/** Reads elements, side by side in the new array. */
export function gather(launch: Launch, memory: StridedMemory): Uint8Array<ArrayBuffer> {
  const { Words, layout, rowsAt } = wordsOf(memory);
  const { places, rows, run } = layout;
  const packed = new Words(places.length * rows.size * run.length);
  for (const { place, packed: first } of places) {
    const words = new Words(launch.readRows(...rowsAt(place)).buffer);
    let at = 0;
    for (let row = 0; row < rows.size; row++) {
      const start = first + row * rows.packed;
      for (const word of run) packed[start + word] = words[at++] ?? 0;
    }
  }
  return new Uint8Array(packed.buffer);
}

/** Writes elements that lie side by side in an array. */
export function scatter(
  launch: Launch,
  memory: StridedMemory,
  elements: Uint8Array<ArrayBuffer>,
): void {
  const { Words, layout, rowsAt } = wordsOf(memory);
  const { places, rows, run } = layout;
  const packed = new Words(elements.buffer);
  for (const { place, packed: first } of places) {
    const words = new Words(rows.size * run.length);
    let at = 0;
    for (let row = 0; row < rows.size; row++) {
      const start = first + row * rows.packed;
      for (const word of run) words[at++] = packed[start + word] ?? 0;
    }
    launch.writeRows(...rowsAt(place), new Uint8Array(words.buffer));
  }
}

function wordsOf({ address, elementBytes, start, sizes, strides }: StridedMemory) {
  const wordBytes = Math.min(elementBytes, 4) as keyof typeof WORD_ARRAYS;
  const parts = elementBytes / wordBytes;
  const axes: Axis[] = [{ size: parts, stride: 1, packed: 1 }];
  let packed = parts;
  for (const [axis, size] of [...sizes.entries()].reverse()) {
    axes.push({ size, stride: (strides[axis] ?? 0) * parts, packed });
    packed *= size;
  }
  const layout = layoutOf(axes, start * parts);
  const rows: Rows = {
    widthBytes: layout.run.length * wordBytes,
    pitchBytes: layout.rows.stride * wordBytes,
    rowCount: layout.rows.size,
  };
  const rowsAt = (place: number): [bigint, Rows] => [address + BigInt(place * wordBytes), rows];
  return { Words: WORD_ARRAYS[wordBytes], layout, rowsAt };
}

/** Finds the runs, where steps follow each other without a gap, and the axis with most rows of them. */
function layoutOf(axes: readonly Axis[], start: number): Layout {
  const first = { place: start, packed: 0 };
  let run = new Int32Array(1);
  const apart: Axis[] = [];
  for (const axis of axes.toSorted((a, b) => Math.abs(a.stride) - Math.abs(b.stride))) {
    if (axis.size === 1) continue;
    const { size, stride, packed } = axis.stride < 0 ? reversed(axis, first) : axis;
    if (stride === run.length) run = longerRun(run, { size, stride, packed });
    else apart.push({ size, stride, packed });
  }
  const [rows = { size: 1, stride: run.length, packed: 0 }] = apart
    .filter(({ stride }) => stride > run.length)
    .toSorted((a, b) => b.size - a.size);
  let places = [first];
  for (const { size, stride, packed } of apart.filter((axis) => axis !== rows)) {
    places = places.flatMap((from) =>
      Array.from({ length: size }, (_, step) => ({
        place: from.place + step * stride,
        packed: from.packed + step * packed,
      }))
    );
  }
  return { places, rows, run };
}

/** Walks an axis from its other end, which moves the first word there. */
function reversed({ size, stride, packed }: Axis, first: { place: number; packed: number }): Axis {
  first.place += (size - 1) * stride;
  first.packed += (size - 1) * packed;
  return { size, stride: -stride, packed: -packed };
}

function longerRun(run: Int32Array, { size, packed }: Axis): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(run.length * size);
  let at = 0;
  for (let step = 0; step < size; step++) {
    for (const word of run) longer[at++] = word + step * packed;
  }
  return longer;
}
