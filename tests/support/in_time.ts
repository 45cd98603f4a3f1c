// Waits that end.

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
