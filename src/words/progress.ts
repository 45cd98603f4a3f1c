// The one place that calls a program's onProgress.

import { warnOfFailure } from "./options.ts";

/**
 * Calls a progress callback when there is one. A promise that it returns is not awaited; its failure is
 * printed on the console.
 */
export function reportProgress<A extends readonly unknown[]>(
  onProgress: ((...progress: A) => void) | undefined,
  ...progress: A
): void {
  warnOfFailure(onProgress?.(...progress), "onProgress() failed after it had returned");
}
