// A program that keeps all threads busy which the runtime has for calls off the JavaScript thread.

import { FUTEX, openHost, SYS_FUTEX } from "../../ffi/host.ts";
import { addressOf } from "../../src/memory/host_memory.ts";

/** The runtime has 32. */
const CALL_COUNT = 40;

/** Keeps the threads busy until it is disposed. */
export class BusyThreads implements AsyncDisposable {
  readonly #word = new Int32Array(new SharedArrayBuffer(4));
  readonly #calls: Promise<unknown>[] = [];

  /** Gives each thread a call that waits. */
  constructor() {
    const { futexKeepingNonblocking } = openHost();
    const address = addressOf(this.#word);
    while (this.#calls.length < CALL_COUNT) {
      this.#calls.push(
        futexKeepingNonblocking(SYS_FUTEX, address, FUTEX.WAIT_PRIVATE, 0, null, 0n, 0n, null),
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    Atomics.store(this.#word, 0, 1);
    const wake = () =>
      openHost().futex(SYS_FUTEX, addressOf(this.#word), FUTEX.WAKE_PRIVATE, CALL_COUNT, null);
    wake();
    await Promise.all(this.#calls);
  }
}
