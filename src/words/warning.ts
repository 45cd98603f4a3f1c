// Warnings: what went wrong where nothing else may fail because of it, such as in a release.

/**
 * Prints a warning. Where the console cannot be written, as with a log on a full disk, the warning is
 * lost and the program goes on.
 */
export function warn(text: string): void {
  printOrLose(() => console.warn(`vramkit: ${text}`));
}

/** Prints what a program can do without. */
export function printOrLose(print: () => void): void {
  try {
    print();
  } catch {
    // There is nobody left to tell.
  }
}
