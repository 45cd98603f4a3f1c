// Timers for any length of time, waits with a limit, and pauses that nobody waits for.

/** The runtime's timers, taken before tests of programs may replace the global ones. */
export const TIMERS: Pick<typeof globalThis, "clearTimeout" | "setTimeout"> = {
  clearTimeout,
  setTimeout,
};

/** The runtime counts milliseconds in 31 bits: a longer timer fires at once. */
const MAX_TIMER_MILLISECONDS = 2 ** 31 - 1;

/** Returns a time as a timer can wait for it: at most 24 days. */
export function timerMilliseconds(milliseconds: number): number {
  return Math.min(milliseconds, MAX_TIMER_MILLISECONDS);
}

/** Waits for a time, or with 0 for a turn of the event loop. */
export function sleep(milliseconds: number): Promise<void> {
  const { setTimeout } = TIMERS;
  return new Promise((resolve) => void setTimeout(resolve, milliseconds));
}

/** Waits for a promise, but no longer than a time. */
export async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  const { clearTimeout, setTimeout } = TIMERS;
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timerMilliseconds(milliseconds));
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

const CELL = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/**
 * Calls a function after a time, in a turn of the event loop. Unlike a timer it does not keep the
 * program running, and a test that ends before is not told of a leak.
 */
export function afterPause(milliseconds: number, run: () => void): void {
  const { value } = Atomics.waitAsync(CELL, 0, 0, milliseconds);
  if (value instanceof Promise) void value.then(run);
}
