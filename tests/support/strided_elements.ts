// The elements of a strided layout as a plain list, for tests to judge by.

import type { StridedLayout } from "../../src/buffers/strides.ts";

/** Lists the elements of a layout in the order of its axes, by their index in the buffer. */
export function elementsOf({ shape, strides, offset }: StridedLayout): number[] {
  let elements = [offset];
  for (const [axis, size] of shape.entries()) {
    const stride = strides[axis] ?? 0;
    const starts = elements;
    elements = [];
    for (const start of starts) {
      for (let step = 0; step < size; step++) elements.push(start + step * stride);
    }
  }
  return elements;
}
