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

/** Waits until something holds. */
export async function until(holds: () => unknown, what: string): Promise<void> {
  for (const end = performance.now() + 20_000; performance.now() < end;) {
    if (await holds()) return;
    await delay(5);
  }
  throw new Error(`It does not come about that ${what}`);
}
