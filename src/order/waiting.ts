// Waits for the GPU. A promise looks a few times at once, then between turns of the event loop, then
// waits on another thread: timers, servers and the notebook kernel keep running. A blocking call looks
// a few times first.

import { CUresult } from "../../ffi/constants.ts";
import { findHost } from "../../ffi/host.ts";
import type { Driver } from "../driver/driver.ts";
import { hasBuiltins } from "../words/builtin.ts";

/**
 * Tells a worker, which other threads can end between two turns of its event loop. Its
 * arrays are freed then, so no other thread may use them during a turn.
 */
export const CAN_BE_TERMINATED: boolean =
  Object.prototype.toString.call(globalThis) !== "[object Window]";

/**
 * The number of turns that a thread of the runtime gives: Node's timers take half the time for a
 * turn, but loading them blocks a program's first waiting call for 6 to 25 ms.
 */
const FIRST_TURNS = 1000;

/** Declared here, because a program's `lib` setting may leave it out. */
interface Timers {
  setImmediate(callback: () => void): unknown;
}

/** Looks of a promise before its first turn: most small copies are over by then. */
const FIRST_LOOKS = 8;

/** Turns of polling, about 1 to 3 microseconds each, before a wait moves to another thread. */
const POLL_TURNS = 64;

/** Looks of a blocking call before the driver's own wait, which notices brief work's end late. */
const MAX_LOOKS = 48;

/**
 * Blocks until a stream has done all that the driver was given (cuStreamSynchronize); returns false when
 * queries were enough.
 */
export function waitForStream(driver: Driver, handle: bigint): boolean {
  const { api } = driver;
  for (let look = 0; look < MAX_LOOKS; look++) {
    const status = api.cuStreamQuery(handle);
    if (status === CUresult.CUDA_SUCCESS) return false;
    if (status !== CUresult.CUDA_ERROR_NOT_READY) break; // work may be under way nevertheless
  }
  driver.check(api.cuStreamSynchronize(handle), "cuStreamSynchronize");
  return true;
}

/** Looks a few times, without a turn of the event loop, whether the GPU has passed a point. */
export function isSoon(isDone: () => boolean): boolean {
  for (let look = 0; look < FIRST_LOOKS; look++) if (isDone()) return true;
  return false;
}

/** Number of the runtime's threads that wait for the GPU: a turn must not depend on a free one. */
let blockedCount = 0;

/**
 * Waits until the GPU has passed a point.
 *
 * @param isDone Asks the driver, and throws the error that it reports.
 * @param block Waits on another thread, and throws the error that the driver reports.
 */
export async function waitForGpu(isDone: () => boolean, block: () => Promise<void>): Promise<void> {
  for (let turn = 0; turn < POLL_TURNS; turn++) {
    if (isDone()) return;
    await nextTurn();
  }
  blockedCount++;
  try {
    await block();
  } finally {
    blockedCount--;
  }
}

/** Number of turns that threads of the runtime have given. */
let turnCount = 0;

/** Resolves in the next turn of the event loop, without a timer's delay of a millisecond or more. */
export function nextTurn(): Promise<void> {
  if (!hasBuiltins() && turnCount < FIRST_TURNS && blockedCount === 0) {
    turnCount++;
    const turn = findHost()?.yieldNonblocking();
    if (turn !== undefined) return turn.then(() => {});
  }
  const { setImmediate } = globalThis as unknown as Timers;
  return new Promise((resolve) => void setImmediate(() => resolve()));
}

/** Time between two turns of the event loop. */
export const MILLISECONDS_BETWEEN_TURNS = 4;

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
    if (performance.now() - this.#last < MILLISECONDS_BETWEEN_TURNS) return;
    await nextTurn();
    this.#last = performance.now();
    this.#signal?.throwIfAborted();
  }
}
