// Pauses of long work on the JavaScript thread: the event loop has its turn every few milliseconds, and
// a signal is heard then.

import { nextTurn } from "./waiting.ts";

/** Time between two turns of the event loop. */
const MAX_MILLISECONDS = 4;

/** The pauses of one piece of work. */
export class Pauses {
  readonly #signal: AbortSignal | undefined;
  #last = performance.now();

  /** Counts from now on; `signal` ends the work. */
  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /**
   * Lets the event loop have its turn when one is due.
   *
   * @throws The signal's reason, once it was aborted.
   */
  async whenDue(): Promise<void> {
    this.#signal?.throwIfAborted();
    if (performance.now() - this.#last < MAX_MILLISECONDS) return;
    await nextTurn();
    this.#last = performance.now();
    this.#signal?.throwIfAborted();
  }
}
