// The longest time of a timer: the runtime counts milliseconds in 31 bits, and a timer of more fires at
// once.

const MOST_MILLISECONDS = 2 ** 31 - 1;

/** Returns a time as a timer can wait for it: at most 24 days. */
export function timerMilliseconds(milliseconds: number): number {
  return Math.min(milliseconds, MOST_MILLISECONDS);
}
