// Warnings, for failures that must not make anything else fail, such as those of a release.

/** Prints a warning; on a console that cannot be written, as on a full disk, it is lost. */
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
