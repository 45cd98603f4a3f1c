// How a promise waits for the GPU: a short poll between turns of the event loop, then a thread.
// Neither blocks JavaScript, so timers, servers and the notebook kernel go on.

import { setImmediate } from "node:timers";

/** Turns of polling, about 1 to 3 microseconds each, before a wait moves to another thread. */
const POLL_TURNS = 64;

/**
 * Waits until the GPU has passed a point.
 *
 * @param isDone asks the driver, and throws what it reports.
 * @param block waits on a thread of its own and throws what the driver reports.
 */
export async function waitForGpu(isDone: () => boolean, block: () => Promise<void>): Promise<void> {
  for (let turn = 0; turn < POLL_TURNS; turn++) {
    if (isDone()) return;
    await nextTurn();
  }
  await block();
}

/** Resolves in the next turn of the event loop, without a timer's delay of a millisecond or more. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => resolve()));
}
