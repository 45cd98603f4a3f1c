// Keeps the memory of an array while threads use it by its address, also when the program moves the
// array away: a call that sleeps on a thread of the runtime's has it as an argument.

import { findHost, FUTEX, openHost, SYS_FUTEX } from "../../ffi/host.ts";
import { addressOf, type HostBytes } from "./host_memory.ts";
import { giveThreadBack, takeThread } from "./lent_threads.ts";

/** What keeps the memory of an array. */
export interface MemoryKeeper {
  /** Lets the memory go; resolves when the thread is back, some microseconds later. */
  letGo(): Promise<void>;
}

/**
 * Keeps memory until it is let go; undefined when no thread is free for it. Shared memory cannot be
 * moved away, and stays as long as it is referenced.
 */
export function keepMemory(bytes: HostBytes): MemoryKeeper | undefined {
  if (bytes.buffer instanceof SharedArrayBuffer) return { letGo: () => Promise.resolve() };
  if (findHost() === undefined || !takeThread()) return undefined;
  const word = new Int32Array(new SharedArrayBuffer(4));
  const returned = sleepUntilChanged(word, bytes);
  return {
    letGo() {
      Atomics.store(word, 0, 1);
      openHost().futex(SYS_FUTEX, addressOf(word), FUTEX.WAKE_PRIVATE, 1, null);
      return returned;
    },
  };
}

/** Sleeps on another thread while the word is 0, with the memory as an argument. */
async function sleepUntilChanged(
  word: Int32Array<SharedArrayBuffer>,
  bytes: HostBytes,
): Promise<void> {
  const { futexKeepingNonblocking } = openHost();
  const memory = bytes as BufferSource;
  const address = addressOf(word);
  while (Atomics.load(word, 0) === 0) {
    await futexKeepingNonblocking(SYS_FUTEX, address, FUTEX.WAIT_PRIVATE, 0, null, 0n, 0n, memory);
  }
  giveThreadBack();
}
