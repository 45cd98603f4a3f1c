// Warnings, for failures that must not make anything else fail, such as those of a release.

/**
 * Prints a warning. Where the console cannot be written, as with a log on a full disk, the warning is
 * lost and the program goes on.
 */
export function warn(text: string): void {
  printOrLose(() => console.warn(`vramkit: ${text}`));
}

/** Prints something, and ignores a failure to print it. */
export function printOrLose(print: () => void): void {
  try {
    print();
  } catch {
    // There is nobody left to tell.
  }
}
