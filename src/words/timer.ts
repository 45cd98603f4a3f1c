// Timers that wait as long as they are told to, and waits that have an end.

/** The runtime counts milliseconds in 31 bits: a timer of more fires at once. */
const MOST_MILLISECONDS = 2 ** 31 - 1;

/** Returns a time as a timer can wait for it: at most 24 days. */
export function timerMilliseconds(milliseconds: number): number {
  return Math.min(milliseconds, MOST_MILLISECONDS);
}

/** Waits for a promise, but no longer than a time. */
export async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timerMilliseconds(milliseconds));
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
