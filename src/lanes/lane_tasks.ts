// The tasks of lanes, one for each slot, in memory that all threads share; and the same work on the
// calling thread, or on a thread that the runtime lends for one call.

import { openHost } from "../../ffi/host.ts";
import type { ByteCopy } from "../copies/copy_many.ts";
import type { HostBytes } from "../memory/host_memory.ts";
import {
  COPY_FIELDS,
  doTask,
  fileSteps,
  LANE_CODES,
  MOST_COPIES,
  OPERATION,
  TASK_FIELDS,
  type TaskMemory,
} from "./lane_program.ts";

/**
 * The task of a lane for one slot. The file's side of a task is a descriptor instead of an address, and
 * the source of pages is the advice for the system: see {@link OPERATION}.
 */
export type LaneTask =
  | {
    readonly operation: "copy";
    /** Direction: the program's array is the source of an upload, the destination of a download. */
    readonly direction: "upload" | "download";
    /** The array's bytes: a lent thread is given them, which keeps their memory. */
    readonly bytes: HostBytes;
  } & ByteCopy
  | {
    readonly operation: "copyEach";
    /** The copies, at most {@link MOST_COPIES}. */
    readonly copies: readonly ByteCopy[];
  }
  | {
    readonly operation: "copyRows";
    /** Bytes of one row. */
    readonly rowBytes: number;
    /** Bytes from the start of a row to the next, where they are read. */
    readonly sourcePitch: number;
    /** Bytes from the start of a row to the next, where they are written. */
    readonly destinationPitch: number;
  } & ByteCopy
  | {
    readonly operation: "readRows";
    /** Offset of the first row in the file, in bytes. */
    readonly fileOffset: number;
    /** Bytes of one row. */
    readonly rowBytes: number;
    /** Bytes from the start of a row to the next in the file. */
    readonly sourcePitch: number;
  } & ByteCopy
  | {
    readonly operation: "makePages";
  } & ByteCopy
  | {
    readonly operation: "read" | "write";
    /** Offset in the file, in bytes. */
    readonly fileOffset: number;
  } & ByteCopy;

/** A thread copies so many bytes in the time in which a sleeping lane wakes up. */
const BRIEF_BYTES = 2n ** 19n;

type CopyTask = Extract<LaneTask, { readonly operation: "copy" }>;

/** The tasks of all slots. */
export class LaneTasks implements TaskMemory {
  /** {@link TASK_FIELDS} for each slot. */
  readonly fields: BigInt64Array<SharedArrayBuffer>;
  /** The copies of each slot's list. */
  readonly lists: BigInt64Array<SharedArrayBuffer>;
  /** The array of each slot's copy, and the direction. */
  readonly #arrays = new Map<number, Pick<CopyTask, "direction" | "bytes">>();

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
    if (task.operation === "copy") {
      this.#arrays.set(slot, task);
      return;
    }
    if ("fileOffset" in task) fields[at + 4] = BigInt(task.fileOffset);
    if (!("rowBytes" in task)) return;
    fields[at + 5] = BigInt(task.rowBytes);
    fields[at + 6] = BigInt(task.sourcePitch);
    if ("destinationPitch" in task) fields[at + 7] = BigInt(task.destinationPitch);
  }

  /** Forgets the array of a slot's copy. */
  forget(slot: number): void {
    this.#arrays.delete(slot);
  }

  /** Returns whether a task is only for lanes: many small moves, each of which would be a call, or pages. */
  isForLanes(slot: number): boolean {
    const operation = this.#field(slot, 0);
    return operation !== OPERATION.copy && operation !== OPERATION.read &&
      operation !== OPERATION.write;
  }

  /** Returns whether a task is over before a sleeping lane would be awake. */
  isBrief(slot: number): boolean {
    const operation = this.#field(slot, 0);
    if (operation === OPERATION.makePages) return false;
    return operation === OPERATION.copyEach || this.#field(slot, 3) <= BRIEF_BYTES;
  }

  /** Does a task on the calling thread; false when it failed. */
  run(slot: number): boolean {
    return doTask(slot, this, { codes: LANE_CODES, host: openHost(), fileSteps });
  }

  /**
   * Does a task that is not a list on another thread; resolves to false when it failed. The thread
   * keeps the memory of an array, also when the program moves the array away meanwhile.
   */
  async runElsewhere(slot: number): Promise<boolean> {
    const { operation, destination, source, byteLength, offset } = this.#read(slot);
    if (operation === OPERATION.copy) {
      await this.#copyElsewhere(slot, { destination, source, byteLength });
      return true;
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

  async #copyElsewhere(
    slot: number,
    { destination, source, byteLength }: {
      destination: bigint;
      source: bigint;
      byteLength: bigint;
    },
  ): Promise<void> {
    const array = this.#arrays.get(slot);
    if (array === undefined) return;
    const bytes = array.bytes as BufferSource & HostBytes;
    if (BigInt(bytes.byteLength) !== byteLength) return; // moved away, which ends the transfer
    const { copyFromNonblocking, copyIntoNonblocking } = openHost();
    if (array.direction === "upload") await copyFromNonblocking(destination, bytes, byteLength);
    else await copyIntoNonblocking(bytes, source, byteLength);
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
