// Times several short calls against each other: batches that take turns, so that what disturbs one
// disturbs them all, and short ones, so that no queue fills up and makes the host wait.

import { median } from "./result_file.ts";

/** The amount to measure. */
export interface TurnOptions {
  /** Batches of each call, after one that warms up. */
  readonly batchCount: number;
  /** Calls in a batch. */
  readonly callCount: number;
  /** Empties the queues; runs before each batch, untimed. */
  readonly settle?: () => void;
}

/** Times calls by name; the median of a call's batches, in seconds a call. */
export async function secondsInTurn<Name extends string>(
  calls: Readonly<Record<Name, () => unknown>>,
  options: TurnOptions,
): Promise<Record<Name, number>> {
  const { batchCount, callCount, settle = () => {} } = options;
  const entries = Object.entries<() => unknown>(calls);
  const samples = new Map<string, number[]>(entries.map(([name]) => [name, []]));
  for (let batch = 0; batch <= batchCount; batch++) {
    for (const [name, call] of entries) {
      settle();
      const seconds = await secondsOfBatch(call, callCount);
      if (batch > 0) samples.get(name)?.push(seconds);
    }
  }
  settle();
  const medians = [...samples].map(([name, seconds]) => [name, median(seconds)]);
  return Object.fromEntries(medians);
}

/** Promises are awaited one by one; a call that blocks is not. */
async function secondsOfBatch(call: () => unknown, callCount: number): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < callCount; i++) {
    const pending = call();
    if (pending instanceof Promise) await pending;
  }
  return (performance.now() - start) / 1000 / callCount;
}
