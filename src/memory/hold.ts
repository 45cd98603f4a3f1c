// Keeps something until it is disposed: what `using` lets go at the end of a transfer.

/** One use of something that must not go meanwhile. */
export class Hold implements Disposable {
  readonly #letGo: () => void;

  /** Calls `letGo` when disposed. */
  constructor(letGo: () => void) {
    this.#letGo = letGo;
  }

  /** Ends the use; call it once. */
  [Symbol.dispose](): void {
    this.#letGo();
  }
}
