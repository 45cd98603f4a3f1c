// Waits that end.

import { setTimeout as delay } from "node:timers/promises";

/** A promise that took too long. */
export class LateError extends Error {}

/** Resolves as a promise does; rejects with a {@linkcode LateError} when that takes longer. */
export async function inTime<T>(seconds: number, promise: T | Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new LateError(`no end in ${seconds} s`)), seconds * 1000);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A wait that has no end by then hangs, also on a machine with many other programs. */
const HANGS_MILLISECONDS = 60_000;

/** Waits until something holds. */
export async function until(holds: () => unknown, what: string): Promise<void> {
  for (const end = performance.now() + HANGS_MILLISECONDS; performance.now() < end;) {
    if (await holds()) return;
    await delay(5);
  }
  throw new Error(`It does not come about that ${what}`);
}
