// The tasks of threads that copy, one for each slot, in memory that all threads share; the same work on the
// calling thread; and what lanes and lent threads have in common.

import { openHost } from "../../ffi/host.ts";
import type { HostBytes } from "../memory/host_memory.ts";
import { doTask, LANE_CODES, LAYOUT, OPERATION } from "./lane_program.ts";

/** Bytes, or rows of bytes, that lie side by side in a slot. */
export interface LaneRun {
  /** The host's side: an address, or an offset in a file. */
  readonly outside: bigint;
  /** Address in the slot. */
  readonly inside: bigint;
  /** Bytes of one row. */
  readonly rowBytes: number;
  /** Number of rows. */
  readonly rowCount: number;
  /** Bytes from the start of a row to the next on the host's side. */
  readonly pitch: number;
}

/** Work between a slot and the host's side of a piece. */
export interface LaneTask {
  /** Copies out of an array or into one, or reads or writes a file. */
  readonly operation: keyof typeof OPERATION;
  /** The runs, at most as many as {@link LAYOUT} has room for. */
  readonly runs: readonly LaneRun[];
  /** The file's descriptor. */
  readonly file?: number | undefined;
  /** The array of a single run: a lent thread is given it, which keeps its memory. */
  readonly bytes?: HostBytes | undefined;
}

/** State of a slot's task. */
export type TaskStatus = "pending" | "done" | "failed";

/** Threads that do tasks: lanes, and threads that the runtime lends. */
export interface Executor {
  /** Number of further tasks that it takes now. */
  readonly freeCount: number;
  /** Has the task of a free slot done by a thread. */
  submit(slot: number, task: LaneTask): void;
  /** Returns the state of a slot's task. */
  poll(slot: number): TaskStatus;
  /** Blocks until a slot's task is done, without a turn of the event loop. */
  rest(slot: number): void;
}

/** The tasks of all slots. */
export class LaneTasks {
  /** The fields of each slot's task and its runs. */
  readonly fields: BigInt64Array<SharedArrayBuffer>;

  /** Makes room for a task of each slot. */
  constructor(slotCount: number) {
    this.fields = new BigInt64Array(new SharedArrayBuffer(8 * LAYOUT.slotFields * slotCount));
  }

  /** Sets the task of a slot. */
  write(slot: number, { operation, file = 0, runs }: LaneTask): void {
    let at = slot * LAYOUT.slotFields;
    this.fields[at++] = OPERATION[operation];
    this.fields[at++] = BigInt(file);
    this.fields[at++] = BigInt(runs.length);
    for (const { outside, inside, rowBytes, rowCount, pitch } of runs) {
      this.fields[at++] = outside;
      this.fields[at++] = inside;
      this.fields[at++] = BigInt(rowBytes);
      this.fields[at++] = BigInt(rowCount);
      this.fields[at++] = BigInt(pitch);
    }
  }

  /** Does a task on the calling thread; false when it failed. */
  run(slot: number): boolean {
    return doTask(slot, this.fields, { codes: LANE_CODES, host: openHost() });
  }
}
