// The runtime's threads that the kit uses: it has 32 for all calls that run off the JavaScript thread,
// including the program's files and timers. Until lanes run they do the same work for transfers that are
// awaited: each call has its part of the array as an argument, which keeps the memory, and ends in a turn
// of the event loop. A thread may begin at any time until then, also after a call that blocked has done
// its work once more, so it is never given memory that the program can reach to write into.

import { openHost } from "../../ffi/host.ts";
import type { HostBytes } from "../memory/host_memory.ts";
import { MAX_LENT_THREADS, MAX_RETRIES } from "../transfer/ways.ts";
import type { Executor, LaneTask, LaneTasks, TaskStatus } from "./lane_tasks.ts";

let takenCount = 0;

/** Takes threads, all or none; false when that would be too many: the others stay for the program. */
export function takeThreads(count: number): boolean {
  if (takenCount + count > MAX_LENT_THREADS) return false;
  takenCount += count;
  return true;
}

/** Gives a thread back. */
export function giveThreadBack(): void {
  takenCount--;
}

/** A task on a lent thread. */
interface Loan {
  status: TaskStatus;
  isBack: boolean;
  /** Called when the thread is back. */
  onReturn?: () => void;
}

/** The lent threads of one engine. */
export class LentThreads implements Executor {
  readonly #tasks: LaneTasks;
  readonly #mostCount: number;
  /** The tasks of slots, until they are forgotten. */
  readonly #loans = new Map<number, Loan>();
  /** Number of threads that have not come back. */
  awayCount = 0;

  /** Takes so many threads at most, for tasks of these slots. */
  constructor(tasks: LaneTasks, mostCount: number) {
    this.#tasks = tasks;
    this.#mostCount = mostCount;
  }

  /** Returns whether a task can be given to a thread: one copy, or files, whose parts are few. */
  static takes({ operation, runs, bytes }: LaneTask): boolean {
    const isFile = operation === "read" || operation === "write";
    return runs.length === 1 && runs[0]?.rowCount === 1 && (isFile || bytes !== undefined);
  }

  /** Number of further tasks that it takes now. */
  get freeCount(): number {
    return Math.min(this.#mostCount - this.awayCount, MAX_LENT_THREADS - takenCount);
  }

  /** Gives the task of a free slot to a thread, while there is a free one. */
  submit(slot: number, task: LaneTask): void {
    this.#tasks.write(slot, task);
    const loan: Loan = { status: "pending", isBack: false };
    this.#loans.set(slot, loan);
    this.awayCount++;
    takeThreads(1);
    const ended = (isDone: boolean) => {
      giveThreadBack();
      this.awayCount--;
      loan.isBack = true;
      if (loan.status === "pending") loan.status = isDone ? "done" : "failed";
      loan.onReturn?.();
    };
    runElsewhere(task).then(ended, () => ended(false));
  }

  /** Returns the state of a slot's task; only a turn of the event loop or {@link LentThreads.rest} changes it. */
  poll(slot: number): TaskStatus {
    return this.#loans.get(slot)?.status ?? "done";
  }

  /** Does a slot's task once more, on the calling thread: both write the same bytes. */
  rest(slot: number): void {
    const loan = this.#loans.get(slot);
    if (loan?.status !== "pending") return;
    loan.status = this.#tasks.run(slot) ? "done" : "failed";
  }

  /** Forgets a slot's task, which is over; calls `onReturn` when its thread is back, at once when it is. */
  forget(slot: number, onReturn: () => void): void {
    const loan = this.#loans.get(slot);
    this.#loans.delete(slot);
    if (loan === undefined || loan.isBack) onReturn();
    else loan.onReturn = onReturn;
  }
}

/** Does a task on another thread; resolves to false when it failed. */
async function runElsewhere({ operation, runs, file = 0, bytes }: LaneTask): Promise<boolean> {
  const [run] = runs;
  if (run === undefined) return true;
  const { outside, inside, rowBytes } = run;
  const size = BigInt(rowBytes);
  const host = openHost();
  if (operation === "load" || operation === "store") {
    const array = bytes as BufferSource & HostBytes;
    if (array.byteLength !== rowBytes) return true; // moved away, which ends the transfer
    if (operation === "load") await host.copyFromNonblocking(inside, array, size);
    else await host.copyIntoNonblocking(array, inside, size);
    return true;
  }
  const move = operation === "read" ? host.preadNonblocking : host.pwriteNonblocking;
  let failedCount = 0;
  for (let moved = 0n; moved < size;) {
    const count = await move(file, inside + moved, size - moved, outside + moved);
    if (count === 0n || (count < 0n && ++failedCount > MAX_RETRIES)) return false;
    if (count < 0n) continue;
    moved += BigInt(count);
    failedCount = 0;
  }
  return true;
}
