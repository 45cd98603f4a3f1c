// Workers that move bytes between page-locked slots and ordinary memory or files, several at once.
// One thread copies a quarter of what the bus takes; the JavaScript thread only hands out the work.

import { Worker } from "node:worker_threads";
import type { ByteCopy } from "./copy_many.ts";
import { addressOf } from "./host_memory.ts";
import { FUTEX, HOST_LIBRARY, openHost, SYS_FUTEX } from "../../ffi/host.ts";
import {
  CONTROL,
  COPY_FIELDS,
  LANE_SOURCE,
  MOST_COPIES,
  OPERATION,
  patienceFor,
  STATUS,
  TASK_FIELDS,
} from "./lane_source.ts";

/** What a lane does for one slot. */
export type LaneTask =
  | { readonly operation: "copy" } & ByteCopy
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
    /** How many bytes. */
    readonly byteLength: number;
    /** Where in the file. */
    readonly fileOffset: number;
  };

/** How many lanes there are. */
export interface LaneCounts {
  /** Lanes for memory and files that have their pages; each is a thread. */
  readonly laneCount: number;
  /** Lanes for fresh memory, whose pages the system clears while lanes fill them. */
  readonly freshLaneCount: number;
}

/** A thread copies so many bytes in the time in which a sleeping lane wakes up. */
const BRIEF_BYTES = 512n * 1024n;

/** So many lanes there never are. */
const EVERYONE = 2 ** 31 - 1;

/** The lanes of one engine. */
export class CopyLanes {
  readonly #slotCount: number;
  readonly #counts: LaneCounts;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #fields: BigInt64Array<SharedArrayBuffer>;
  /** The copies of each slot's list. */
  readonly #lists: BigInt64Array<SharedArrayBuffer>;
  #first: Worker | undefined;
  #isBroken = false;

  /** Prepares for `slotCount` slots; no lane runs until {@link CopyLanes.start}. */
  constructor(slotCount: number, counts: LaneCounts) {
    this.#slotCount = slotCount;
    this.#counts = counts;
    this.#words = new Int32Array(new SharedArrayBuffer(4 * (CONTROL.queue + 2 * slotCount)));
    this.#fields = sharedFields(TASK_FIELDS * slotCount);
    this.#lists = sharedFields(COPY_FIELDS * MOST_COPIES * slotCount);
  }

  /**
   * Starts the first lane, about 40 ms, which starts the others, about half a second. Until a lane
   * runs, and where workers cannot be had, the calling thread does the work.
   */
  start(): void {
    if (this.#isBroken || this.#first !== undefined) return;
    const source = `data:text/javascript,${encodeURIComponent(LANE_SOURCE)}`;
    const workerData = {
      control: this.#words.buffer,
      address: addressOf(this.#words),
      tasks: this.#fields.buffer,
      copies: this.#lists.buffer,
      slotCount: this.#slotCount,
      library: HOST_LIBRARY,
      patience: patienceFor(navigator.hardwareConcurrency),
      lane: 0,
      laneCount: this.#counts.laneCount,
      totalCount: Math.max(this.#counts.laneCount, this.#counts.freshLaneCount),
      source,
    };
    try {
      this.#first = new Worker(new URL(source), { workerData });
      this.#first.unref();
      this.#first.on("error", () => this.#isBroken = true);
    } catch {
      this.#isBroken = true;
    }
  }

  /** How many lanes run and take ordinary work. */
  get runningCount(): number {
    return Math.min(Atomics.load(this.#words, CONTROL.alive), this.#counts.laneCount);
  }

  /** Whether most lanes sleep, so that a transfer would wait for them. */
  get areAsleep(): boolean {
    return 2 * Atomics.load(this.#words, CONTROL.sleepers) > this.runningCount;
  }

  /** Wakes all lanes that sleep, within a quarter millisecond; they look for work for a while. */
  rouse(): void {
    this.#wake(EVERYONE);
  }

  /** Lets the extra lanes work, until the returned object is disposed. */
  callExtra(): Disposable {
    Atomics.add(this.#words, CONTROL.fresh, 1);
    this.#futexWake(CONTROL.fresh, EVERYONE);
    return { [Symbol.dispose]: () => void Atomics.sub(this.#words, CONTROL.fresh, 1) };
  }

  /** Queues a task for a slot that has none. */
  submit(slot: number, task: LaneTask): void {
    this.#write(slot, task);
    const words = this.#words;
    Atomics.store(words, this.#statusWord(slot), STATUS.pending);
    const head = Atomics.load(words, CONTROL.head);
    Atomics.store(words, CONTROL.queue + head % this.#slotCount, slot);
    Atomics.store(words, CONTROL.head, head + 1);
    this.#wake(1);
  }

  /** How a slot's task stands. */
  status(slot: number): "pending" | "done" | "failed" {
    const status = Atomics.load(this.#words, this.#statusWord(slot));
    return status === STATUS.pending ? "pending" : status === STATUS.done ? "done" : "failed";
  }

  /**
   * Does one waiting task on the calling thread: any while no lane runs, a brief one while lanes
   * are still waking up. False when there is none.
   */
  help(): boolean {
    const words = this.#words;
    const tail = Atomics.load(words, CONTROL.tail);
    if (tail === Atomics.load(words, CONTROL.head)) return false;
    const slot = Atomics.load(words, CONTROL.queue + tail % this.#slotCount);
    if (Atomics.load(words, CONTROL.alive) > 0) {
      const isBrief = (this.#fields[slot * TASK_FIELDS + 3] ?? 0n) <= BRIEF_BYTES;
      if (!isBrief || Atomics.load(words, CONTROL.sleepers) === 0) return false;
    }
    if (Atomics.compareExchange(words, CONTROL.tail, tail, tail + 1) !== tail) return false;
    Atomics.store(words, this.#statusWord(slot), this.#run(slot) ? STATUS.done : STATUS.failed);
    return true;
  }

  /** Blocks until a lane finishes something, for at most `milliseconds`. */
  waitSync(milliseconds: number): void {
    const done = Atomics.load(this.#words, CONTROL.done);
    Atomics.wait(this.#words, CONTROL.done, done, milliseconds);
  }

  /** Ends the lanes; none of them may have work. */
  dispose(): void {
    Atomics.store(this.#words, CONTROL.stop, 1);
    this.callExtra();
    this.#wake(EVERYONE);
  }

  #wake(laneCount: number): void {
    Atomics.add(this.#words, CONTROL.signal, 1);
    if (Atomics.load(this.#words, CONTROL.sleepers) === 0) return;
    const woken = this.#futexWake(CONTROL.signal, laneCount);
    Atomics.sub(this.#words, CONTROL.sleepers, woken);
  }

  /** How many lanes it wakes that sleep on a word; none runs where there is no futex. */
  #futexWake(word: number, laneCount: number): number {
    if (Atomics.load(this.#words, CONTROL.alive) === 0) return 0;
    const address = addressOf(this.#words) + BigInt(4 * word);
    return Number(openHost().futex(SYS_FUTEX, address, FUTEX.WAKE_PRIVATE, laneCount, null));
  }

  #write(slot: number, task: LaneTask): void {
    const fields = this.#fields;
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
  }

  #writeList(slot: number, copies: readonly ByteCopy[]): void {
    let at = slot * MOST_COPIES * COPY_FIELDS;
    for (const { destination, source, byteLength } of copies) {
      this.#lists[at++] = destination;
      this.#lists[at++] = source;
      this.#lists[at++] = BigInt(byteLength);
    }
  }

  #statusWord(slot: number): number {
    return CONTROL.queue + this.#slotCount + slot;
  }

  #run(slot: number): boolean {
    const { memcpy, pread, pwrite } = openHost();
    const at = slot * TASK_FIELDS;
    const field = (index: number) => this.#fields[at + index] ?? 0n;
    const [operation, destination, source] = [field(0), field(1), field(2)];
    const [byteLength, offset] = [field(3), field(4)];
    if (operation === OPERATION.copy) {
      memcpy(destination, source, byteLength);
      return true;
    }
    if (operation === OPERATION.copyEach) {
      const start = slot * MOST_COPIES * COPY_FIELDS;
      const end = start + Number(byteLength) * COPY_FIELDS;
      for (let next = start; next < end;) {
        const field = () => this.#lists[next++] ?? 0n;
        memcpy(field(), field(), field());
      }
      return true;
    }
    for (let moved = 0n; moved < byteLength;) {
      const count = operation === OPERATION.read
        ? pread(Number(source), destination + moved, byteLength - moved, offset + moved)
        : pwrite(Number(destination), source + moved, byteLength - moved, offset + moved);
      if (count <= 0n) return false;
      moved += count;
    }
    return true;
  }
}

function sharedFields(count: number): BigInt64Array<SharedArrayBuffer> {
  return new BigInt64Array(new SharedArrayBuffer(8 * count));
}
