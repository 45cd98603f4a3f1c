// A set of byte ranges, kept sorted and merged: which bytes of an allocation were written.
// Most allocations are written whole, so the common case is one range.

/** The bytes from `start` up to `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export class ByteRanges {
  /** Starts and ends, alternating and ascending. */
  #edges: number[] = [];

  /** Adds the bytes from `start` up to `end`. */
  add(start: number, end: number): void {
    if (start >= end) return;
    const edges = this.#edges;
    // Ranges that touch the new one are merged, so both searches include equality.
    let first = this.#countBelow(start, false);
    let last = this.#countBelow(end, true);
    const mergedStart = first % 2 === 1 ? edges[--first] ?? start : start;
    const mergedEnd = last % 2 === 1 ? edges[last++] ?? end : end;
    if (last - first === 2 && edges[first] === mergedStart && edges[first + 1] === mergedEnd) {
      return;
    }
    edges.splice(first, last - first, mergedStart, mergedEnd);
  }

  /** Adds many ranges in one pass: one after another they would move what lies behind each time. */
  addAll(ranges: readonly ByteRange[]): void {
    const edges = this.#edges;
    const merged: number[] = [];
    let at = 0;
    const put = (start: number, end: number) => {
      const last = merged.at(-1);
      if (last === undefined || start > last) merged.push(start, end);
      else if (end > last) merged[merged.length - 1] = end;
    };
    const putEarlier = (limit: number) => {
      for (; (edges[at] ?? Infinity) < limit; at += 2) put(edges[at] ?? 0, edges[at + 1] ?? 0);
    };
    for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
      putEarlier(start);
      if (start < end) put(start, end);
    }
    putEarlier(Infinity);
    this.#edges = merged;
  }

  /** Finds the first byte from `start` up to `end` that is not in the set. */
  firstGap(start: number, end: number): number | undefined {
    if (start >= end) return undefined;
    const below = this.#countBelow(start, true);
    if (below % 2 === 0) return start;
    const covered = this.#edges[below] ?? start;
    return covered >= end ? undefined : covered;
  }

  /** Counts the edges below a value, or up to it when `inclusive`. */
  #countBelow(value: number, inclusive: boolean): number {
    let low = 0;
    let high = this.#edges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const edge = this.#edges[middle] ?? 0;
      if (edge < value || (inclusive && edge === value)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
