// Counts bytes and allocations in nested levels: current, peak and total.

import { MemoryCounters, type MemoryUsage } from "../accounting/counters.ts";
import { PassingAdaptor } from "../memory/resource_adaptor.ts";
import type { CudaStream } from "../order/stream.ts";

/** Counters that start at zero, nested in others; disposing them ends them. */
export interface StatisticsLevel extends MemoryUsage, Disposable {}

/** Counts allocations and frees; failed ones do not count. */
export class StatisticsResourceAdaptor extends PassingAdaptor implements MemoryUsage {
  readonly #outermost = new MemoryCounters();
  /** All counters, outermost first; the outermost is never removed. */
  readonly #levels: MemoryCounters[] = [this.#outermost];

  /** Allocates and counts. */
  override allocate(byteLength: number, stream: CudaStream): bigint {
    const address = super.allocate(byteLength, stream);
    for (const level of this.#levels) level.add(byteLength);
    return address;
  }

  /** Frees and counts. */
  override deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    super.deallocate(address, byteLength, stream);
    for (const level of this.#levels) level.remove(byteLength);
  }

  /**
   * Opens counters that start at zero, inside those that are open. They also count frees of earlier
   * allocations, so `currentBytes` is negative when more was freed than allocated meanwhile.
   */
  push(): StatisticsLevel {
    const level = new Level((ended) => this.#end(ended));
    this.#levels.push(level);
    return level;
  }

  /**
   * Ends the innermost counters and returns their counts.
   *
   * @throws RangeError when none are open.
   */
  pop(): MemoryUsage {
    const innermost = this.#levels.at(-1);
    if (innermost === undefined || innermost === this.#outermost) {
      throw new RangeError("Cannot pop counters: none are open, push() opens them");
    }
    this.#end(innermost);
    return innermost;
  }

  /** Bytes in use now. */
  get currentBytes(): number {
    return this.#outermost.currentBytes;
  }

  /** The most bytes in use at once. */
  get peakBytes(): number {
    return this.#outermost.peakBytes;
  }

  /** Bytes of all allocations so far. */
  get totalBytes(): number {
    return this.#outermost.totalBytes;
  }

  /** Allocations in use now. */
  get currentCount(): number {
    return this.#outermost.currentCount;
  }

  /** The most allocations in use at once. */
  get peakCount(): number {
    return this.#outermost.peakCount;
  }

  /** All allocations so far. */
  get totalCount(): number {
    return this.#outermost.totalCount;
  }

  #end(level: MemoryCounters): void {
    const index = this.#levels.indexOf(level);
    if (index > 0) this.#levels.splice(index, 1);
  }
}

/** Counters that can end themselves. */
class Level extends MemoryCounters implements StatisticsLevel {
  readonly #end: (level: Level) => void;

  constructor(end: (level: Level) => void) {
    super();
    this.#end = end;
  }

  [Symbol.dispose](): void {
    this.#end(this);
  }
}
