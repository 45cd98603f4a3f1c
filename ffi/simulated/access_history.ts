// Who touched which bytes of one piece of memory, as far as it can still race with something new.
// Two uses of the same bytes on different streams, one of them a write, must be ordered.

import { happensBefore, isObserved, type Moment } from "./happens_before.ts";

/** Bytes at regular distances: `rowCount` rows of `widthBytes`, each `pitchBytes` after the one before. */
export interface Extent {
  /** First byte. */
  readonly start: number;
  /** Bytes of one row. */
  readonly widthBytes: number;
  /** Distance between the starts of two rows. */
  readonly pitchBytes: number;
  /** Number of rows. */
  readonly rowCount: number;
}

/** One use of some bytes. */
export interface Access {
  /** Bytes used. */
  readonly extent: Extent;
  /** Whether the bytes are written. */
  readonly write: boolean;
  /** Place of the operation in the order. */
  readonly moment: Moment;
  /** Driver function that queued the operation. */
  readonly call: string;
}

/** Remembers the uses of one piece of memory that the host has not waited for. */
export class AccessHistory {
  #accesses: Access[] = [];
  #pruneAt = 16;

  /** Finds an earlier use that races with a new one. */
  conflict(access: Access): Access | undefined {
    return this.#accesses.find((earlier) =>
      (earlier.write || access.write) &&
      earlier.moment.timeline !== access.moment.timeline &&
      !happensBefore(earlier.moment, access.moment) &&
      !happensBefore(access.moment, earlier.moment) &&
      overlap(earlier.extent, access.extent)
    );
  }

  /** Adds a use, dropping those that it makes irrelevant. */
  add(access: Access): void {
    this.#accesses.push(access);
    if (this.#accesses.length < this.#pruneAt) return;
    this.#accesses = this.#accesses.filter((earlier) =>
      earlier === access || !(isObserved(earlier.moment) || hides(access, earlier))
    );
    this.#pruneAt = Math.max(16, this.#accesses.length * 2);
  }

  /** Finds a use that the host has not waited for. */
  unobserved(): Access | undefined {
    return this.#accesses.find((access) => !isObserved(access.moment));
  }
}

/** Returns the first byte after an extent. */
export function endOf(extent: Extent): number {
  return extent.start + (extent.rowCount - 1) * extent.pitchBytes + extent.widthBytes;
}

/** Tells whether everything that races with the earlier use also races with the later one. */
function hides(later: Access, earlier: Access): boolean {
  if (later.extent.rowCount > 1 || !(later.write || !earlier.write)) return false;
  return later.extent.start <= earlier.extent.start &&
    endOf(later.extent) >= endOf(earlier.extent) &&
    happensBefore(earlier.moment, later.moment);
}

/** Tells whether two extents share a byte. */
export function overlap(a: Extent, b: Extent): boolean {
  if (a.start >= endOf(b) || b.start >= endOf(a)) return false;
  if (a.rowCount === 1 && b.rowCount === 1) return true;
  const [few, many] = a.rowCount <= b.rowCount ? [a, b] : [b, a];
  for (let row = 0; row < few.rowCount; row++) {
    const start = few.start + row * few.pitchBytes;
    if (touchesRow(many, start, start + few.widthBytes)) return true;
  }
  return false;
}

function touchesRow(extent: Extent, start: number, end: number): boolean {
  if (extent.rowCount === 1) return start < endOf(extent) && extent.start < end;
  const first = Math.floor((start - extent.start - extent.widthBytes) / extent.pitchBytes) + 1;
  const last = Math.ceil((end - extent.start) / extent.pitchBytes) - 1;
  return Math.max(first, 0) <= Math.min(last, extent.rowCount - 1);
}
