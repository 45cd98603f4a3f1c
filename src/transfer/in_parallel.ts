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
