// Work that is queued already and can be awaited: `s.pull()` queues it, `await s.pull()` waits too.

import type { CudaStream } from "../order/stream.ts";

/**
 * Work queued on a stream, as {@link StagedBuffer.push} returns it. It runs whether or not it is
 * awaited; `await` waits until it is done.
 */
export class QueuedWork implements PromiseLike<void> {
  readonly #stream: CudaStream;

  /** @ignore Creates an object for the work that `stream` has queued so far. */
  constructor(stream: CudaStream) {
    this.#stream = stream;
  }

  /** Waits until the work is done, for `await`; rejects with the work's error. */
  then<A = void, B = never>(
    onDone?: (() => A | PromiseLike<A>) | null,
    onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#stream.synchronize().then(onDone, onFailed);
  }

  /** Blocks until the work is done. */
  synchronizeSync(): void {
    this.#stream.synchronizeSync();
  }
}
