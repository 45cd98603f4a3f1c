// What a piece of code says on the console as warnings: the place where failed cleanup is reported.

/** Collects warnings instead of printing them, until it is disposed. */
export class CaughtWarnings implements Disposable {
  /** The warnings so far. */
  readonly texts: string[] = [];
  readonly #warn = console.warn;

  constructor() {
    console.warn = (...words: unknown[]) => void this.texts.push(words.join(" "));
  }

  /** Lets warnings reach the console again. */
  [Symbol.dispose](): void {
    console.warn = this.#warn;
  }
}

/** Runs `body` and returns the warnings it printed; nothing reaches the console meanwhile. */
export function captureWarnings(body: () => void): string[] {
  using warnings = new CaughtWarnings();
  body();
  return warnings.texts;
}
