// The one place that calls a program's onProgress.

import { refusePromise } from "./options.ts";

/**
 * Calls a progress callback when there is one.
 *
 * @throws TypeError when it returns a promise: nothing would wait for it, and nobody would hear of
 *   its failure.
 */
export function reportProgress<A extends readonly unknown[]>(
  onProgress: ((...progress: A) => void) | undefined,
  ...progress: A
): void {
  if (onProgress === undefined) return;
  refusePromise(
    onProgress(...progress),
    "Cannot report progress: onProgress() returned a promise, for which nothing would wait; return " +
      "nothing, as (done) => void show(done) does",
  );
}
