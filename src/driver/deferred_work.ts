// Work for the host to do once the GPU has passed a point, such as freeing memory that a copy still
// reads. A little of it is done at each later call.

import type { Driver } from "./driver.ts";
import { tryRelease } from "./release.ts";

/** Work to do once the GPU has passed a point. */
export interface DeferredWork {
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
  readonly #works = new Set<DeferredWork>();

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  get size(): number {
    return this.#works.size;
  }

  add(work: DeferredWork): void {
    this.#works.add(work);
  }

  sweep(): void {
    for (const work of this.#works) if (work.isDue()) this.#run(work);
  }

  /** Runs due work; stops after `mostLooks` fruitless looks, which take 1.5 microseconds each. */
  sweepSome(mostLooks: number): void {
    let looks = 0;
    for (const work of this.#works) {
      if (work.isDue()) {
        this.#run(work);
        continue;
      }
      if (++looks > mostLooks) return;
      this.#works.delete(work); // others are looked at next time
      this.#works.add(work);
    }
  }

  /** Makes a stream's later work come after all points of the GPU's that work waits for. */
  hold(streamHandle: bigint): void {
    for (const work of this.#works) work.hold?.(streamHandle);
  }

  /** Runs all work: waits for each one unless the GPU has passed them all. */
  runAll({ isPassed }: { readonly isPassed: boolean }): void {
    for (const work of [...this.#works]) {
      if (!isPassed) tryRelease(this.#driver, "what the GPU still uses", () => work.wait());
      this.#run(work);
    }
  }

  #run(work: DeferredWork): void {
    if (this.#works.delete(work)) tryRelease(this.#driver, "deferred work", () => work.run());
  }
}
