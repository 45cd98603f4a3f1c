// Work that is queued already and can be waited for: `s.pull()` queues, `await s.pull()` waits too.

import type { CudaStream } from "../stream.ts";

/** Work on a stream. It runs whether or not anybody waits; awaiting it waits until it is done. */
export class QueuedWork implements PromiseLike<void> {
  readonly #stream: CudaStream;

  /** Stands for what `stream` has queued so far. */
  constructor(stream: CudaStream) {
    this.#stream = stream;
  }

  /** Waits, for `await`; rejects with what the work failed with. */
  then<A = void, B = never>(
    onDone?: (() => A | PromiseLike<A>) | null,
    onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#stream.synchronize().then(onDone, onFailed);
  }

  /** Blocks until it is done. */
  synchronizeSync(): void {
    this.#stream.synchronizeSync();
  }
}
