// Promises that reject and that nobody awaits: each would end a program.

/** Collects the reasons of such promises until it is disposed. */
export class CaughtRejections implements Disposable {
  /** The reasons with which promises rejected so far. */
  readonly reasons: unknown[] = [];
  readonly #listen = (event: PromiseRejectionEvent): void => {
    event.preventDefault();
    this.reasons.push(event.reason);
  };

  constructor() {
    addEventListener("unhandledrejection", this.#listen);
  }

  /** Lets rejections end the program again. */
  [Symbol.dispose](): void {
    removeEventListener("unhandledrejection", this.#listen);
  }
}
