// The tasks of lanes, one for each slot, in memory that all threads share; and the same work on the
// calling thread, or on a thread that the runtime lends for one call.

import { openHost } from "../../ffi/host.ts";
import type { ByteCopy } from "./copy_many.ts";
import { addressOf } from "./host_memory.ts";
import {
  COPY_FIELDS,
  doTask,
  fileSteps,
  LANE_CODES,
  MOST_COPIES,
  OPERATION,
  STATUS,
  TASK_FIELDS,
  type TaskMemory,
} from "./lane_program.ts";

/** The task of a lane for one slot. */
export type LaneTask =
  | {
    readonly operation: "copy";
    /** Direction: the program's array is the source of an upload, the destination of a download. */
    readonly direction: "upload" | "download";
  } & ByteCopy
  | {
    readonly operation: "copyEach";
    /** The copies, at most {@link MOST_COPIES}. */
    readonly copies: readonly ByteCopy[];
  }
  | {
    readonly operation: "read" | "write";
    /** An address, or the file descriptor to write to. */
    readonly destination: bigint;
    /** An address, or the file descriptor to read from. */
    readonly source: bigint;
    /** Number of bytes. */
    readonly byteLength: number;
    /** Offset in the file, in bytes. */
    readonly fileOffset: number;
  };

/** The status that a thread writes last after it has copied a block. */
const DONE = Int32Array.of(STATUS.done);
const STATUS_BYTES = 4n;

/** A thread copies so many bytes in the time in which a sleeping lane wakes up. */
const BRIEF_BYTES = 2n ** 19n;

/** The tasks of all slots. */
export class LaneTasks implements TaskMemory {
  /** {@link TASK_FIELDS} for each slot. */
  readonly fields: BigInt64Array<SharedArrayBuffer>;
  /** The copies of each slot's list. */
  readonly lists: BigInt64Array<SharedArrayBuffer>;
  /** Slots whose task fills an array. */
  readonly #downloads = new Set<number>();

  /** Makes room for a task of each slot. */
  constructor(slotCount: number) {
    this.fields = sharedFields(TASK_FIELDS * slotCount);
    this.lists = sharedFields(COPY_FIELDS * MOST_COPIES * slotCount);
  }

  /** Sets the task of a slot. */
  write(slot: number, task: LaneTask): void {
    const { fields } = this;
    const at = slot * TASK_FIELDS;
    fields[at] = OPERATION[task.operation];
    if (task.operation === "copyEach") {
      fields[at + 3] = BigInt(task.copies.length);
      return this.#writeList(slot, task.copies);
    }
    fields[at + 1] = task.destination;
    fields[at + 2] = task.source;
    fields[at + 3] = BigInt(task.byteLength);
    if (task.operation !== "copy") fields[at + 4] = BigInt(task.fileOffset);
    else if (task.direction === "download") this.#downloads.add(slot);
    else this.#downloads.delete(slot);
  }

  /** Returns whether a task is a list of small copies. */
  isList(slot: number): boolean {
    return this.#field(slot, 0) === OPERATION.copyEach;
  }

  /** Returns whether a task reads or writes a file. */
  isOfFile(slot: number): boolean {
    const operation = this.#field(slot, 0);
    return operation === OPERATION.read || operation === OPERATION.write;
  }

  /** Returns whether a task is over before a sleeping lane would be awake. */
  isBrief(slot: number): boolean {
    return this.isList(slot) || this.#field(slot, 3) <= BRIEF_BYTES;
  }

  /** Does a task on the calling thread; false when it failed. */
  run(slot: number): boolean {
    return doTask(slot, this, { codes: LANE_CODES, host: openHost(), fileSteps });
  }

  /**
   * Does a task that is not a list on another thread; resolves to false when it failed. After a
   * block is copied, {@link STATUS.done} is written to `statusAddress`: the system copies its
   * vectors one after another, so a thread that sees the status sees the bytes too, without a turn
   * of the event loop (process_vm_readv, process_vm_writev).
   */
  async runElsewhere(slot: number, statusAddress: bigint): Promise<boolean> {
    const { operation, destination, source, byteLength, offset } = this.#read(slot);
    if (operation === OPERATION.copy) {
      return await this.#copyElsewhere(slot, { destination, source, byteLength, statusAddress });
    }
    const { preadNonblocking, pwriteNonblocking } = openHost();
    const steps = fileSteps(byteLength);
    let step = steps.next();
    while (step.done !== true) {
      const moved = step.value;
      const left = byteLength - moved;
      step = steps.next(
        operation === OPERATION.read
          ? await preadNonblocking(Number(source), destination + moved, left, offset + moved)
          : await pwriteNonblocking(Number(destination), source + moved, left, offset + moved),
      );
    }
    return step.value;
  }

  /** The array's side is the remote one: the system looks page-locked memory up as local only. */
  async #copyElsewhere(
    slot: number,
    copy: { destination: bigint; source: bigint; byteLength: bigint; statusAddress: bigint },
  ): Promise<boolean> {
    const { destination, source, byteLength, statusAddress } = copy;
    const { getpid, processVmReadNonblocking, processVmWriteNonblocking } = openHost();
    const filled = BigUint64Array.of(destination, byteLength, statusAddress, STATUS_BYTES);
    const read = BigUint64Array.of(source, byteLength, addressOf(DONE), STATUS_BYTES);
    const count = this.#downloads.has(slot)
      ? await processVmWriteNonblocking(getpid(), read, 2n, filled, 2n, 0n)
      : await processVmReadNonblocking(getpid(), filled, 2n, read, 2n, 0n);
    return count === byteLength + STATUS_BYTES;
  }

  #writeList(slot: number, copies: readonly ByteCopy[]): void {
    let at = slot * MOST_COPIES * COPY_FIELDS;
    for (const { destination, source, byteLength } of copies) {
      this.lists[at++] = destination;
      this.lists[at++] = source;
      this.lists[at++] = BigInt(byteLength);
    }
  }

  #read(slot: number) {
    return {
      operation: this.#field(slot, 0),
      destination: this.#field(slot, 1),
      source: this.#field(slot, 2),
      byteLength: this.#field(slot, 3),
      offset: this.#field(slot, 4),
    };
  }

  #field(slot: number, index: number): bigint {
    return this.fields[slot * TASK_FIELDS + index] ?? 0n;
  }
}

function sharedFields(count: number): BigInt64Array<SharedArrayBuffer> {
  return new BigInt64Array(new SharedArrayBuffer(8 * count));
}
