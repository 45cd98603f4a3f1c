// Positions along the axes of a buffer, for showing a part of it.

/** An axis of a layout. */
export interface Axis {
  readonly size: number;
  /** Elements from one step to the next. */
  readonly stride: number;
}

/** Returns how many elements lie before row `row`, counted over all axes, the last one fastest. */
export function offsetOfRow(axes: readonly Axis[], row: number): number {
  let rest = row;
  return axes.reduceRight((sum, { size, stride }) => {
    const position = rest % size;
    rest = Math.floor(rest / size);
    return sum + position * stride;
  }, 0);
}

/** Returns all positions, or the first and the last ones with undefined between them. */
export function shownAt(
  count: number,
  { first, last }: { readonly first: number; readonly last: number },
): (number | undefined)[] {
  const range = (start: number, end: number) =>
    Array.from({ length: end - start }, (_, index) => start + index);
  return count <= first + last
    ? range(0, count)
    : [...range(0, first), undefined, ...range(count - last, count)];
}
