// Work for the host to do once the GPU has passed a point, such as freeing memory that a copy still
// reads: kept until somebody looks, a little of it at a time.

import type { Driver } from "./driver.ts";
import { tryRelease } from "./release.ts";

/** Work to do once the GPU has passed a point. */
export interface DeferredWork {
  /** Whether the GPU has passed the point. */
  isDue(): boolean;
  /** Blocks until the GPU has passed it. */
  wait(): void;
  /** Does the work; never throws. */
  run(): void;
}

/** The work that waits for the GPU, oldest first. */
export class DeferredQueue {
  readonly #driver: Driver;
  readonly #works = new Set<DeferredWork>();

  /** Starts empty. */
  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /** The number of works that wait. */
  get size(): number {
    return this.#works.size;
  }

  /** Adds work. */
  add(work: DeferredWork): void {
    this.#works.add(work);
  }

  /** Runs all that is due. */
  sweep(): void {
    for (const work of this.#works) if (work.isDue()) this.#run(work);
  }

  /** Runs what is due, and stops after some looks in vain: a look takes 1.5 microseconds. */
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

  /** Runs all of it: the GPU has done everything, or else each is waited for. */
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
