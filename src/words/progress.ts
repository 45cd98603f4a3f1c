// The one place that calls a program's onProgress.

import { warnOfFailure } from "./options.ts";

/** Calls a progress callback, if any; a promise is not awaited, and its failure printed. */
export function reportProgress<A extends readonly unknown[]>(
  onProgress: ((...progress: A) => void) | undefined,
  ...progress: A
): void {
  warnOfFailure(onProgress?.(...progress), "onProgress() failed after it had returned");
}
