// Breaks a copy between two strided layouts into as few driver calls as it can: bytes that follow
// each other on both sides are a row, rows at one distance a rectangle, rectangles a box.

/** One axis of a copy: how many steps, and how far a step goes on each side, in bytes. */
export interface CopyAxis {
  readonly size: number;
  /** Bytes from one step to the next in the destination. */
  readonly destinationStride: number;
  /** Bytes from one step to the next in the source. */
  readonly sourceStride: number;
}

/**
 * A copy as driver calls: each call copies a box of rows, and one is made for each step of the
 * loops.
 */
export interface CopyPlan {
  /** Bytes that follow each other on both sides. */
  readonly widthBytes: number;
  readonly rows: CopyAxis | undefined;
  /** Rectangles of a box. */
  readonly slices: CopyAxis | undefined;
  /** Axes that no call covers, outermost first. */
  readonly loops: readonly CopyAxis[];
}

/** Offsets at which one call starts, in bytes from the first element on each side. */
export interface CopyOffset {
  readonly destination: number;
  readonly source: number;
}

/** The distance between rows has 31 bits (CU_DEVICE_ATTRIBUTE_MAX_PITCH). */
const MAX_PITCH_BYTES = 2 ** 31 - 1;

/** Plans a copy of elements; the order of the axes does not matter. */
export function planCopy(elementBytes: number, axes: readonly CopyAxis[]): CopyPlan {
  let rest = merge(axes);
  const run = rest.find((axis) =>
    axis.destinationStride === elementBytes && axis.sourceStride === elementBytes
  );
  const widthBytes = elementBytes * (run?.size ?? 1);
  rest = without(rest, run);
  const rows = largest(rest.filter((axis) => isPitch(axis, widthBytes)));
  rest = without(rest, rows);
  const slices = rows === undefined
    ? undefined
    : largest(rest.filter((axis) => stacks(axis, rows)));
  return { widthBytes, rows, slices, loops: without(rest, slices) };
}

/** Rows that take the copy engine as long as one call takes, 9 microseconds. */
const ROWS_OF_A_CALL = 12_000;

/** Returns the time that a copy takes beside its bytes, in calls. */
export function callsOf({ rows, slices, loops }: CopyPlan): number {
  const callCount = loops.reduce((product, { size }) => product * size, 1);
  return callCount * (1 + (rows?.size ?? 1) * (slices?.size ?? 1) / ROWS_OF_A_CALL);
}

/** Returns the axes of a plan around the bytes that follow each other, the loops first. */
export function axesAround({ rows, slices, loops }: CopyPlan): CopyAxis[] {
  return [...loops, slices, rows].filter((axis) => axis !== undefined);
}

/** Walks the steps of the loops. */
export function* offsetsOf(loops: readonly CopyAxis[]): Generator<CopyOffset, void, undefined> {
  const [axis, ...inner] = loops;
  if (axis === undefined) {
    yield { destination: 0, source: 0 };
    return;
  }
  for (let step = 0; step < axis.size; step++) {
    for (const { destination, source } of offsetsOf(inner)) {
      yield {
        destination: step * axis.destinationStride + destination,
        source: step * axis.sourceStride + source,
      };
    }
  }
}

/** The bytes from the lowest to the highest element of a layout. */
export interface Reach {
  /** Bytes from the first element to the lowest: 0, or less where a stride is negative. */
  readonly lowest: number;
  readonly byteLength: number;
}

/** Finds the bytes that a layout reaches. */
export function reachOf(
  axes: readonly { readonly size: number; readonly stride: number }[],
  elementBytes: number,
): Reach {
  let [lowest, highest] = [0, 0];
  for (const { size, stride } of axes) {
    const reach = (size - 1) * stride;
    if (reach < 0) lowest += reach;
    else highest += reach;
  }
  return { lowest, byteLength: highest - lowest + elementBytes };
}

/** Finds the memory of a layout that begins at an address. */
export function hullOf(
  address: bigint,
  { lowest, byteLength }: Reach,
): { readonly address: bigint; readonly byteLength: number } {
  return { address: lowest === 0 ? address : address + BigInt(lowest), byteLength };
}

/** Drops axes of one step, and joins axes that are contiguous on both sides. */
function merge(axes: readonly CopyAxis[]): CopyAxis[] {
  const sorted = axes
    .filter(({ size }) => size !== 1)
    .sort((a, b) => b.destinationStride - a.destinationStride || b.sourceStride - a.sourceStride);
  const merged: CopyAxis[] = [];
  for (const inner of sorted) {
    const outer = merged.at(-1);
    const continues = outer?.destinationStride === inner.destinationStride * inner.size &&
      outer.sourceStride === inner.sourceStride * inner.size;
    if (continues) merged[merged.length - 1] = { ...inner, size: outer.size * inner.size };
    else merged.push(inner);
  }
  return merged;
}

function isPitch({ destinationStride, sourceStride }: CopyAxis, widthBytes: number): boolean {
  const nearest = Math.min(destinationStride, sourceStride);
  return nearest >= widthBytes && Math.max(destinationStride, sourceStride) <= MAX_PITCH_BYTES;
}

/** A box's rectangles lie a whole number of rows apart. */
function stacks(axis: CopyAxis, rows: CopyAxis): boolean {
  return stacksOn(axis.destinationStride, { pitch: rows.destinationStride, count: rows.size }) &&
    stacksOn(axis.sourceStride, { pitch: rows.sourceStride, count: rows.size });
}

function stacksOn(stride: number, rows: { pitch: number; count: number }): boolean {
  return stride % rows.pitch === 0 && stride >= rows.pitch * rows.count;
}

function largest(axes: readonly CopyAxis[]): CopyAxis | undefined {
  return axes.toSorted((a, b) => b.size - a.size)[0];
}

function without(axes: readonly CopyAxis[], taken: CopyAxis | undefined): CopyAxis[] {
  return axes.filter((axis) => axis !== taken);
}
