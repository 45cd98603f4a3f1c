// Counts how often the host has waited, so that the order of work can be told later as it was when
// the work was queued: a kernel names its memory only when it runs, and the host may have waited since.

/** The waits of one simulated host. */
export class HostWaits {
  #count = 0;
  /** Number of works that were queued at a count and have not named their memory yet. */
  #unnamed = new Map<number, number>();

  /** Returns how often the host has waited. */
  get count(): number {
    return this.#count;
  }

  /** Returns the count at which the oldest work was queued that has still to name its memory. */
  get oldestUnnamed(): number {
    // Counts only grow, so a map keeps them in ascending order.
    const [oldest = Infinity] = this.#unnamed.keys();
    return oldest;
  }

  /** Counts a wait. */
  add(): number {
    return ++this.#count;
  }

  /** Notes work that was queued at a count and will name its memory later. */
  expect(count: number): void {
    this.#unnamed.set(count, (this.#unnamed.get(count) ?? 0) + 1);
  }

  /** Notes that such work has named its memory. */
  settle(count: number): void {
    const left = (this.#unnamed.get(count) ?? 1) - 1;
    if (left > 0) this.#unnamed.set(count, left);
    else this.#unnamed.delete(count);
  }
}
