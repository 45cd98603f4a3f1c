// Packages that plots load when the first is shown: a notebook must not wait for ever for a network
// that does not answer.

/** Time in which a package of 25 MB arrives on a slow line. */
const LOADING_SECONDS = 60;

/**
 * Waits for an import, but not for ever.
 *
 * @throws Error when it is not there in time.
 */
export async function withinSeconds<T>(
  loading: Promise<T>,
  seconds: number = LOADING_SECONDS,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = new Error(`no answer within ${seconds} s`);
  const timer = setTimeout(() => reject(late), 1000 * seconds);
  try {
    return await Promise.race([loading, promise]);
  } finally {
    clearTimeout(timer);
  }
}
