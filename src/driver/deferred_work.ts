// Work for the host to do once the GPU has passed a point, such as freeing memory that a copy still
// reads. A little of it is done at each later call.

import type { MemoryPlace } from "../accounting/ledger.ts";
import type { Driver } from "./driver.ts";
import { tryRelease } from "./release.ts";

/** Memory that deferred work gives back. */
export interface DeferredMemory {
  readonly place: MemoryPlace;
  readonly byteLength: number;
}

/** Work to do once the GPU has passed a point. */
export interface DeferredWork {
  /** The memory that it gives back, if it does. */
  readonly memory?: DeferredMemory | undefined;
  /** Returns whether the GPU has passed the point. */
  isDue(): boolean;
  /** Blocks until the GPU has passed the point. */
  wait(): void;
  /** Makes a stream's later work come after the point; left out where the point is not one of the GPU's. */
  hold?(streamHandle: bigint): void;
  /** Does the work; never throws. */
  run(): void;
}

/** The work that waits for the GPU, oldest first. */
export class DeferredQueue {
  readonly #driver: Driver;
  readonly works: Set<DeferredWork> = new Set();

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  sweep(): void {
    for (const work of this.works) if (work.isDue()) this.#run(work);
  }

  /** Runs due work; stops after `mostLooks` fruitless looks, which take 1.5 microseconds each. */
  sweepSome(mostLooks: number): void {
    let looks = 0;
    for (const work of this.works) {
      if (work.isDue()) {
        this.#run(work);
        continue;
      }
      if (++looks > mostLooks) return;
      this.works.delete(work); // others are looked at next time
      this.works.add(work);
    }
  }

  /** Makes a stream's later work come after all points of the GPU's that work waits for. */
  hold(streamHandle: bigint): void {
    for (const work of this.works) work.hold?.(streamHandle);
  }

  /** Returns the bytes of a place that work gives back. */
  bytesOf(place: MemoryPlace): number {
    let bytes = 0;
    for (const { memory } of this.works) if (memory?.place === place) bytes += memory.byteLength;
    return bytes;
  }

  /** Waits for, and runs, the work that gives memory of a place back. */
  runOf(place: MemoryPlace): void {
    for (const work of [...this.works]) if (work.memory?.place === place) this.#finish(work);
  }

  /** Runs all work: waits for each one unless the GPU has passed them all. */
  runAll({ isPassed }: { readonly isPassed: boolean }): void {
    for (const work of [...this.works]) {
      if (isPassed) this.#run(work);
      else this.#finish(work);
    }
  }

  #finish(work: DeferredWork): void {
    tryRelease(this.#driver, "what the GPU still uses", () => work.wait());
    this.#run(work);
  }

  #run(work: DeferredWork): void {
    if (this.works.delete(work)) tryRelease(this.#driver, "deferred work", () => work.run());
  }
}
