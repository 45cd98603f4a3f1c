// Usage of memory as numbers: what is held now, the most at once, and all there ever was.
// The ledger, gpu.track() and resource adaptors all count with these.

/** How much memory is and was in use. */
export interface MemoryUsage {
  /** Bytes in use now. */
  readonly currentBytes: number;
  /** The most bytes in use at once. */
  readonly peakBytes: number;
  /** Bytes of all allocations so far. */
  readonly totalBytes: number;
  /** Allocations in use now. */
  readonly currentCount: number;
  /** The most allocations in use at once. */
  readonly peakCount: number;
  /** All allocations so far. */
  readonly totalCount: number;
}

/** Counts allocations as they come and go. */
export class MemoryCounters implements MemoryUsage {
  currentBytes = 0;
  peakBytes = 0;
  totalBytes = 0;
  currentCount = 0;
  peakCount = 0;
  totalCount = 0;

  /** Counts an allocation. */
  add(byteLength: number): void {
    this.totalBytes += byteLength;
    this.totalCount++;
    this.currentBytes += byteLength;
    this.currentCount++;
    if (this.currentBytes > this.peakBytes) this.peakBytes = this.currentBytes;
    if (this.currentCount > this.peakCount) this.peakCount = this.currentCount;
  }

  /** Counts that an allocation went. */
  remove(byteLength: number): void {
    this.currentBytes -= byteLength;
    this.currentCount--;
  }

  /** Copies the numbers as they are now. */
  snapshot(): MemoryUsage {
    return { ...this };
  }
}
