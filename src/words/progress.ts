// The one place that calls a program's onProgress.

import { messageOf } from "./format.ts";
import { isPromiseLike } from "./options.ts";

/**
 * Calls a progress callback when there is one. A promise that it returns is not waited for; its failure
 * is told on the console.
 */
export function reportProgress<A extends readonly unknown[]>(
  onProgress: ((...progress: A) => void) | undefined,
  ...progress: A
): void {
  const returned: unknown = onProgress?.(...progress);
  if (isPromiseLike(returned)) returned.then(undefined, warnOfFailure);
}

function warnOfFailure(error: unknown): void {
  console.warn(`vramkit: onProgress() failed after it had returned: ${messageOf(error)}`);
}
