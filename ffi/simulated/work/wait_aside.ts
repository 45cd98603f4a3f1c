// Waits for queued work the way a thread beside JavaScript does.
// The program goes on meanwhile, and may still open the latch that the work waits for.

import { CUresult } from "../../constants.ts";
import type { Machine } from "../model/machine.ts";
import type { Operation } from "../model/stream.ts";

/** Turns that the event loop gets to open a latch before a wait for it counts as a deadlock. */
const LATCH_TURNS = 10_000;

/** Declared here, because a program's `lib` setting may leave it out. */
const timers = globalThis as unknown as { setImmediate(callback: () => void): unknown };

/** Pause between two looks at work that another process, or a sleeping rank of a group, holds up. */
const PAUSE_MILLISECONDS = 1;

/** Lets the event loop turn, then waits for an operation. */
export async function waitAside(
  machine: Machine,
  operation: Operation | undefined,
  synchronize: () => void,
): Promise<number> {
  const call = machine.site.name;
  for (let turn = 0; turn < LATCH_TURNS; turn++) {
    await new Promise<void>((resolve) => void timers.setImmediate(resolve));
    if (operation !== undefined) machine.scheduler.proceed(operation);
    while (operation !== undefined && machine.scheduler.waitsOutside(operation)) {
      await new Promise<void>((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
      machine.scheduler.proceed(operation);
    }
    if (operation === undefined || machine.scheduler.deadlock(operation) === undefined) break;
    while (machine.scheduler.mayWake(operation) && machine.scheduler.deadlock(operation)) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
    }
  }
  machine.site.during(call, synchronize);
  return CUresult.CUDA_SUCCESS;
}
