// Keeps the memory of arrays while threads use it by its address, also when the program moves the
// arrays away: calls that sleep on threads of the runtime's have them as arguments.

import { findHost, FUTEX, KEPT_ARRAYS, openHost, SYS_FUTEX } from "../../ffi/host.ts";
import { addressOf, type HostBytes, isShared } from "../memory/host_memory.ts";
import { MAX_KEEPER_THREADS } from "../transfer/ways.ts";
import { giveThreadBack, takeThreads } from "./lent_threads.ts";

/** Most arrays that one keeper keeps. */
export const MAX_KEPT_ARRAYS: number = MAX_KEEPER_THREADS * KEPT_ARRAYS;

/** Keeps the memory of arrays, for one user or several. */
export interface MemoryKeeper {
  /**
   * Notes that one of the users is done. For the last one it releases the memory and returns a
   * promise that resolves when the threads are back, some microseconds later.
   */
  letGo(): Promise<void> | undefined;
}

/**
 * Keeps memory until so many users have let it go; undefined when too few threads are free for it.
 * Shared memory cannot be moved away, and stays as long as it is referenced.
 */
export function keepMemory(
  arrays: readonly HostBytes[],
  userCount: number,
): MemoryKeeper | undefined {
  const byBuffer = new Map(arrays.map((bytes) => [bytes.buffer, bytes]));
  const movable = [...byBuffer.values()].filter(({ buffer }) => !isShared(buffer));
  const threadCount = Math.ceil(movable.length / KEPT_ARRAYS);
  if (threadCount === 0) return { letGo: () => undefined };
  if (threadCount > MAX_KEEPER_THREADS || findHost() === undefined) return undefined;
  if (!takeThreads(threadCount)) return undefined;
  const word = new Int32Array(new SharedArrayBuffer(4));
  const returned = Array.from({ length: threadCount }, (_, thread) => {
    return sleep(word, movable.slice(thread * KEPT_ARRAYS, (thread + 1) * KEPT_ARRAYS));
  });
  let usersLeft = userCount;
  return {
    letGo() {
      if (--usersLeft > 0) return undefined;
      Atomics.store(word, 0, 1);
      openHost().futex(SYS_FUTEX, addressOf(word), FUTEX.WAKE_PRIVATE, threadCount, null);
      return Promise.all(returned).then(() => {});
    },
  };
}

/** Sleeps on another thread while the word is 0, with the memory as arguments. */
async function sleep(
  word: Int32Array<SharedArrayBuffer>,
  arrays: readonly HostBytes[],
): Promise<void> {
  const { futexKeepingNonblocking, futexKeepingManyNonblocking } = openHost();
  const call = [SYS_FUTEX, addressOf(word), FUTEX.WAIT_PRIVATE, 0, null, 0n, 0n] as const;
  const [first = null, ...others] = arrays as readonly BufferSource[];
  const many = Array.from({ length: KEPT_ARRAYS }, (_, at) => arrays[at] as BufferSource ?? null);
  while (Atomics.load(word, 0) === 0) {
    if (others.length === 0) await futexKeepingNonblocking(...call, first);
    else await futexKeepingManyNonblocking(...call, ...many);
  }
  giveThreadBack();
}
