// The accesses to the bytes of one piece of memory that can still race with a new one. Two uses of
// the same bytes on different streams, one of them a write, must be ordered.

import {
  happensBefore,
  isObserved,
  isSettled,
  type Moment,
  type Timeline,
} from "./happens_before.ts";

/** Bytes at regular distances: `rowCount` rows of `widthBytes`, each `pitchBytes` after the one before. */
export interface Extent {
  readonly start: number;
  readonly widthBytes: number;
  /** Distance between the starts of two rows. */
  readonly pitchBytes: number;
  readonly rowCount: number;
}

/** One use of some bytes. */
export interface Access {
  readonly extent: Extent;
  readonly write: boolean;
  /** Place of the operation in the order. */
  readonly moment: Moment;
  /** Driver function that queued the operation. */
  readonly call: string;
}

/** Remembers the uses of one piece of memory that something can still race with. */
export class AccessHistory {
  #tracks = new Map<Timeline, Track>();

  conflict(access: Access): Access | undefined {
    for (const [timeline, track] of this.#tracks) {
      if (timeline === access.moment.timeline) continue;
      const found = track.conflict(access);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  add(access: Access): void {
    const { timeline } = access.moment;
    for (const [other, track] of this.#tracks) {
      const isPast = track.last === undefined || isSettled(track.last.moment);
      if (other !== timeline && isPast) this.#tracks.delete(other);
    }
    this.#tracks.getOrInsertComputed(timeline, () => new Track()).add(access);
  }

  /** Finds a use that the host has not waited for. */
  unobserved(): Access | undefined {
    return this.#tracks.values().map(({ last }) => last)
      .find((last) => last !== undefined && !isObserved(last.moment));
  }
}

/** The uses by one stream, in its order. */
class Track {
  #accesses: Access[] = [];
  #pruneAt = 64;

  get last(): Access | undefined {
    return this.#accesses.at(-1);
  }

  conflict(access: Access): Access | undefined {
    // From the newest on: everything before a use that is ordered is ordered as well.
    for (let index = this.#accesses.length - 1; index >= 0; index--) {
      const earlier = this.#accesses[index];
      if (earlier === undefined || happensBefore(earlier.moment, access.moment)) return undefined;
      const isRace = (earlier.write || access.write) && overlap(earlier.extent, access.extent) &&
        !happensBefore(access.moment, earlier.moment);
      if (isRace) return earlier;
    }
    return undefined;
  }

  add(access: Access): void {
    // A kernel's uses are known only when it runs, so they may come behind later ones.
    let index = this.#accesses.length;
    while (index > 0 && (this.#accesses[index - 1]?.moment.epoch ?? 0) > access.moment.epoch) {
      index--;
    }
    this.#accesses.splice(index, 0, access);
    if (this.#accesses.length >= this.#pruneAt) this.#prune();
  }

  /** Drops accesses that nothing can race with, and all but the last of uses of the same bytes. */
  #prune(): void {
    this.#accesses = this.#accesses.filter(({ moment }) => !isSettled(moment));
    const isAnyUnnamed = this.last?.moment.timeline.waits.oldestUnnamed !== Infinity;
    // A kernel that has still to name its memory may race with an earlier use and not with a later.
    if (!isAnyUnnamed) this.#dropRepeats();
    this.#pruneAt = Math.max(64, this.#accesses.length * 2);
  }

  #dropRepeats(): void {
    const latest = new Map<string, Access>();
    for (const access of this.#accesses) {
      const { start, widthBytes, pitchBytes, rowCount } = access.extent;
      const key = [access.write, start, widthBytes, pitchBytes, rowCount].join();
      // Deleted first, because a map keeps the place of a key that it already has.
      latest.delete(key);
      latest.set(key, access);
    }
    this.#accesses = [...latest.values()];
  }
}

/** Returns the first byte after an extent. */
export function endOf(extent: Extent): number {
  return extent.start + (extent.rowCount - 1) * extent.pitchBytes + extent.widthBytes;
}

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
