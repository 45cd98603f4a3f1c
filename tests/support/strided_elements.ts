// The elements of a strided layout as a plain list, for tests to judge by.

import type { StridedLayout } from "../../src/buffers/strides.ts";

/** Lists the elements of a layout in the order of its axes, by their index in the buffer. */
export function elementsOf({ shape, strides, offset }: StridedLayout): number[] {
  return shape.reduce(
    (starts, size, axis) =>
      starts.flatMap((start) =>
        Array.from({ length: size }, (_, step) => start + step * (strides[axis] ?? 0))
      ),
    [offset],
  );
}
