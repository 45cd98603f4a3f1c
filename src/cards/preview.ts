// The values of a buffer or a view for its card: the first and the last ones, a few hundred bytes,
// and only if reading them needs no waiting.

import { scalarsIn } from "../buffers/element.ts";
import { type DType, elementBytes, type HostValue, packLength } from "../dtype.ts";
import type { Allocation } from "../memory/allocation.ts";
import { activeCapture } from "../order/capture.ts";
import { defaultStreamOf } from "../order/stream.ts";
import { transferSync } from "../transfer/host_transfer.ts";
import { messageOf } from "../words/format.ts";

/** The elements to look at, in their order. */
export interface PreviewLayout {
  readonly dtype: DType;
  /** Size of each axis. */
  readonly shape: readonly number[];
  /** Elements from one step to the next along each axis. */
  readonly strides: readonly number[];
  /** Index of the first element, counted from `byteOffset`. */
  readonly offset: number;
  /** Bytes from the start of the block to the buffer. */
  readonly byteOffset: number;
}

/** Some values of a buffer, or the reason why they are not shown. */
export type Preview =
  | { readonly rows: readonly string[][]; readonly isWhole: boolean }
  | { readonly missing: string };

/** Time to wait for work left by an awaited transfer, such as a free, which takes microseconds. */
const MAX_SETTLING_MILLISECONDS = 20;
const SHOWN_ROWS = { first: 4, last: 2 } as const;
const SHOWN_COLUMNS = { first: 5, last: 3 } as const;
/** The number of values in a row, when there is one axis. */
const ROW_LENGTH = 8;
/** Elements that lie this near to each other are read in one copy. */
const NEAR_ELEMENTS = 16;

/** Stands for a value that nobody has written, which only the simulated driver knows. */
const UNWRITTEN = "·";

/** Reads some values of a live buffer, or says why that cannot be done now. */
export function previewOf(layout: PreviewLayout, allocation: Allocation): Preview {
  if (layout.shape.includes(0)) return { missing: "none" };
  if (allocation.byteLength === 0) return { missing: "none before its first use" };
  if (activeCapture !== undefined) return { missing: "a capture is running" };
  try {
    if (!isQuiet(allocation)) return { missing: "work is still queued on it" };
    return layOut(gridOf(layout), (indices) => readElements(layout, allocation, indices));
  } catch (error) {
    return { missing: `cannot be read: ${messageOf(error)}` };
  }
}

interface Axis {
  readonly size: number;
  /** Elements from one step to the next. */
  readonly stride: number;
}

/** Rows and columns of elements; the last row may be shorter. */
interface Grid {
  readonly rowCount: number;
  readonly columnCount: number;
  /** Returns the index of an element, or undefined behind the last one. */
  readonly indexAt: (row: number, column: number) => number | undefined;
}

/** A single axis is wrapped into rows; with several axes, the last one forms the rows. */
function gridOf({ shape, strides, offset }: PreviewLayout): Grid {
  const axes: Axis[] = shape.map((size, axis) => ({ size, stride: strides[axis] ?? 0 }));
  const last = axes.at(-1) ?? { size: 1, stride: 1 };
  if (axes.length > 1) {
    const outer = axes.slice(0, -1);
    return {
      rowCount: outer.reduce((count, { size }) => count * size, 1),
      columnCount: last.size,
      indexAt: (row, column) => offset + offsetOfRow(outer, row) + column * last.stride,
    };
  }
  return {
    rowCount: Math.ceil(last.size / ROW_LENGTH),
    columnCount: Math.min(last.size, ROW_LENGTH),
    indexAt: (row, column) => {
      const position = row * ROW_LENGTH + column;
      return position < last.size ? offset + position * last.stride : undefined;
    },
  };
}

function layOut(
  { rowCount, columnCount, indexAt }: Grid,
  read: (indices: readonly number[]) => ReadonlyMap<number, string>,
): Preview {
  const rows = shownAt(rowCount, SHOWN_ROWS);
  const columns = shownAt(columnCount, SHOWN_COLUMNS);
  const indices = rows.map((row) =>
    columns.map((column) =>
      row === undefined || column === undefined ? undefined : indexAt(row, column)
    )
  );
  const texts = read(indices.flat().filter((index) => index !== undefined));
  if ([...texts.values()].every((text) => text === UNWRITTEN)) {
    return { missing: "not written yet" };
  }
  return {
    rows: indices.map((line, row) => {
      if (rows[row] === undefined) return ["…"];
      return line.flatMap((index, column) => {
        if (columns[column] === undefined) return ["…"];
        return index === undefined ? [] : [texts.get(index) ?? UNWRITTEN];
      });
    }),
    isWhole: !rows.includes(undefined) && !columns.includes(undefined),
  };
}

/** Reads elements without the buffer's span, which counts as a use and allocates a lazy one. */
function readElements(
  { dtype, byteOffset }: PreviewLayout,
  allocation: Allocation,
  indices: readonly number[],
): Map<number, string> {
  const [each, packed] = [elementBytes(dtype), packLength(dtype)];
  const texts = new Map<number, string>();
  for (const { start, count } of runsOf(indices)) {
    const first = start - start % packed; // of those that share its byte
    const length = Math.ceil((start + count - first) / packed) * packed;
    const bytes = readBytes(allocation, byteOffset + first * each, length * each);
    const values = bytes === undefined ? [] : scalarsIn(dtype, bytes);
    for (let at = first; at < first + length; at++) {
      const value = values[at - first];
      const shown = dtype === "bool" ? value !== 0 : value;
      texts.set(at, value === undefined ? UNWRITTEN : textOf(shown as HostValue));
    }
  }
  return texts;
}

/** Joins elements that lie near each other. */
function runsOf(indices: readonly number[]): { start: number; count: number }[] {
  const runs: { start: number; count: number }[] = [];
  for (const index of [...new Set(indices)].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run === undefined || index >= run.start + run.count + NEAR_ELEMENTS) {
      runs.push({ start: index, count: 1 });
    } else run.count = index - run.start + 1;
  }
  return runs;
}

/** Returns undefined where nobody has written all of the bytes. */
function readBytes(
  allocation: Allocation,
  byteOffset: number,
  byteLength: number,
): Uint8Array<ArrayBuffer> | undefined {
  const memory = new Uint8Array(byteLength);
  const address = allocation.address + BigInt(byteOffset);
  const span = { allocation, address, byteLength };
  const stream = defaultStreamOf(allocation.context);
  try {
    transferSync({ direction: "download", stream, span, host: { memory }, isUncounted: true });
    return memory;
  } catch (error) {
    if (Object(error).rule === "unwritten") return undefined;
    throw error;
  }
}

/** Returns whether all work that could change the block or delay a read is done, or will be in a moment. */
function isQuiet({ usage, context }: Allocation): boolean {
  if (usage.hasPending) return false;
  const streams = [defaultStreamOf(context), ...usage.streams()];
  const deadline = performance.now() + MAX_SETTLING_MILLISECONDS;
  do {
    if (streams.every((stream) => stream.disposed || stream.isIdle)) return true;
  } while (performance.now() < deadline);
  return false;
}

/** Whole numbers are written out up to this size; a float's digits beyond it mean nothing. */
const MAX_WHOLE = 1e9;

/** Formats a number with six significant digits, in scientific form where it would be long. */
export function textOf(value: HostValue): string {
  if (typeof value === "object") {
    const im = textOf(value.im);
    return `${textOf(value.re)}${im.startsWith("-") ? "" : "+"}${im}i`;
  }
  if (typeof value !== "number" || !Number.isFinite(value)) return String(value);
  if (Object.is(value, -0)) return "-0";
  if (Number.isInteger(value) && Math.abs(value) < MAX_WHOLE) return String(value);
  const short = Number(value.toPrecision(6));
  return Math.abs(short) < MAX_WHOLE ? String(short) : short.toExponential();
}

/** Returns how many elements lie before row `row`, counted over all axes, the last one fastest. */
function offsetOfRow(axes: readonly Axis[], row: number): number {
  let rest = row;
  return axes.reduceRight((sum, { size, stride }) => {
    const position = rest % size;
    rest = Math.floor(rest / size);
    return sum + position * stride;
  }, 0);
}

/** Returns all positions, or the first and the last ones with undefined between them. */
function shownAt(
  count: number,
  { first, last }: { readonly first: number; readonly last: number },
): (number | undefined)[] {
  const range = (start: number, end: number) =>
    Array.from({ length: end - start }, (_, index) => start + index);
  return count <= first + last
    ? range(0, count)
    : [...range(0, first), undefined, ...range(count - last, count)];
}
