// The runtime's threads that the kit uses: it has 32 for all calls that run off the JavaScript thread,
// including the program's files and timers, and ends those that have nothing to do for some seconds.

import { FUTEX, openHost, SYS_FUTEX } from "../../ffi/host.ts";
import { addressOf } from "../memory/host_memory.ts";
import { CAN_BE_TERMINATED } from "../order/waiting.ts";

/** The others stay for the program. */
const MOST_THREADS = 26;

/** Time for which threads stay in any case. */
const STAY_MILLISECONDS = 5000;

let takenCount = 0;
/** Number and time of the last threads that were started at once. */
let startedCount = 0;
let startedAt = 0;

/** Takes a thread; false when enough are taken. */
export function takeThread(): boolean {
  if (takenCount >= MOST_THREADS) return false;
  takenCount++;
  return true;
}

/** Gives a thread back. */
export function giveThreadBack(): void {
  takenCount--;
}

/**
 * Starts as many threads as are wanted at once for work that keeps the system from mapping memory, such
 * as making pages: a thread that starts meanwhile waits for those before it, a millisecond each. They
 * sleep until the last one is started. Returns a promise that resolves in a turn of the event loop;
 * undefined when they are there.
 */
export function startThreads(count: number): Promise<void> | undefined {
  const now = performance.now();
  const isFresh = now < startedAt + STAY_MILLISECONDS;
  if (count < 2 || CAN_BE_TERMINATED || isFresh && count <= startedCount) return undefined;
  [startedCount, startedAt] = [count, now];
  const { futex, futexKeepingNonblocking } = openHost();
  const word = new Int32Array(new SharedArrayBuffer(4));
  const address = addressOf(word);
  const sleeping: Promise<unknown>[] = [];
  for (let thread = 0; thread < count; thread++) {
    sleeping.push(
      futexKeepingNonblocking(SYS_FUTEX, address, FUTEX.WAIT_PRIVATE, 0, null, 0n, 0n, null),
    );
  }
  Atomics.store(word, 0, 1);
  futex(SYS_FUTEX, address, FUTEX.WAKE_PRIVATE, count, null);
  // The threads read the word until then; this function keeps its memory.
  return Promise.allSettled(sleeping).then(() => void word);
}
