// Finds the entry at an address among up to millions of ranges that do not overlap. A sorted list
// with binary search; removed entries stay as holes until half of the list is holes.

/** Something that occupies addresses. */
export interface Ranged {
  readonly address: number;
  readonly byteLength: number;
}

/** Maps addresses to the ranges that hold them. */
export class AddressMap<T extends Ranged> implements Iterable<T> {
  #starts: number[] = [];
  #entries: (T | undefined)[] = [];
  #holeCount = 0;

  get size(): number {
    return this.#entries.length - this.#holeCount;
  }

  /** Adds a range; appending in ascending order is the fast path. */
  add(entry: T): void {
    const index = this.#indexOf(entry.address) + 1;
    if (index === this.#starts.length) {
      this.#starts.push(entry.address);
      this.#entries.push(entry);
      return;
    }
    // Host addresses come back: holes inside the new range would hide it.
    const end = this.#indexOf(entry.address + entry.byteLength - 1) + 1;
    const first = this.#starts[index - 1] === entry.address ? index - 1 : index;
    this.#starts.splice(first, end - first, entry.address);
    this.#entries.splice(first, end - first, entry);
    this.#holeCount -= end - first;
  }

  delete(entry: T): void {
    const index = this.#indexOf(entry.address);
    if (this.#entries[index] !== entry) return;
    this.#entries[index] = undefined;
    this.#holeCount++;
    if (this.#holeCount > 64 && this.#holeCount * 2 > this.#entries.length) this.#compact();
  }

  /** Finds the range that holds an address. */
  at(address: number): T | undefined {
    const entry = this.#entries[this.#indexOf(address)];
    return entry !== undefined && address < entry.address + entry.byteLength ? entry : undefined;
  }

  overlaps(address: number, byteLength: number): boolean {
    return !this.within(address, byteLength).next().done;
  }

  /** Lists the ranges that overlap the given one, in ascending order. */
  *within(address: number, byteLength: number): Generator<T> {
    const last = this.#indexOf(address + byteLength - 1);
    for (let index = Math.max(this.#indexOf(address), 0); index <= last; index++) {
      const entry = this.#entries[index];
      if (entry !== undefined && entry.address + entry.byteLength > address) yield entry;
    }
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const entry of [...this.#entries]) {
      if (entry !== undefined) yield entry;
    }
  }

  /** Returns the last index whose start is not after the address, or -1. */
  #indexOf(address: number): number {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] ?? 0) <= address) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #compact(): void {
    const live = this.#entries.filter((entry) => entry !== undefined);
    this.#entries = live;
    this.#starts = live.map((entry) => entry.address);
    this.#holeCount = 0;
  }
}
