// Memory usage as numbers: held now, peak, and total. The ledger, gpu.track() and resource adaptors
// all count with these.

/** Memory usage: now, peak and total, in bytes and allocations. */
export interface MemoryUsage {
  /** Bytes in use now. */
  readonly currentBytes: number;
  /** Largest number of bytes in use at once. */
  readonly peakBytes: number;
  /** Bytes of all allocations so far. */
  readonly totalBytes: number;
  /** Allocations in use now. */
  readonly currentCount: number;
  /** Largest number of allocations in use at once. */
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

  add(byteLength: number): void {
    this.totalBytes += byteLength;
    this.totalCount++;
    this.currentBytes += byteLength;
    this.currentCount++;
    if (this.currentBytes > this.peakBytes) this.peakBytes = this.currentBytes;
    if (this.currentCount > this.peakCount) this.peakCount = this.currentCount;
  }

  /** Counts the end of an allocation. */
  remove(byteLength: number): void {
    this.currentBytes -= byteLength;
    this.currentCount--;
  }

  snapshot(): MemoryUsage {
    const { currentBytes, peakBytes, totalBytes, currentCount, peakCount, totalCount } = this;
    return { currentBytes, peakBytes, totalBytes, currentCount, peakCount, totalCount };
  }
}
