// What a piece of code says on the console as warnings: the place where failed cleanup is reported.

/** Runs `body` and returns the warnings it printed; nothing reaches the console meanwhile. */
export function captureWarnings(body: () => void): string[] {
  const warnings: string[] = [];
  const { warn } = console;
  console.warn = (...words: unknown[]) => void warnings.push(words.join(" "));
  try {
    body();
  } finally {
    console.warn = warn;
  }
  return warnings;
}
