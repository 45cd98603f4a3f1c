// Several transfers at once, ended together: nothing of them is still running afterwards.

/** Options for running the work. */
export interface ParallelWork<T> {
  /** Number of items at a time. */
  readonly count: number;
  /** Does the work for one item. */
  readonly work: (item: T) => Promise<void>;
}

/**
 * Does the work for all items. After the first failure no more items are begun; the failure is
 * thrown when all begun items are over.
 */
export async function inParallel<T>(items: Iterable<T>, options: ParallelWork<T>): Promise<void> {
  const queue = items[Symbol.iterator]();
  let failure: { readonly error: unknown } | undefined;

  async function takeTurns(): Promise<void> {
    for (let next = queue.next(); !next.done && failure === undefined; next = queue.next()) {
      try {
        await options.work(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  }

  await Promise.all(Array.from({ length: options.count }, takeTurns));
  if (failure !== undefined) throw failure.error;
}

/** The end of several transfers: the first failure of one ends the others early. */
export class CommonEnd {
  readonly #failed = new AbortController();
  readonly #signal: AbortSignal | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** Lets the program's signal end them as well. */
  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Returns a signal for the transfers. */
  signal(): AbortSignal {
    const own = this.#failed.signal;
    return this.#signal === undefined ? own : AbortSignal.any([own, this.#signal]);
  }

  /** Notes the failure of one. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#failed.abort(error);
  }

  /** Throws the first failure. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
