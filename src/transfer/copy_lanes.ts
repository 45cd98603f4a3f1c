// Workers that move bytes between page-locked slots and ordinary memory or files, several at once.
// One thread copies a quarter of what the bus takes; the JavaScript thread only hands out the work.

import { Worker } from "node:worker_threads";
import { HOST_LIBRARY, openHost } from "../../ffi/host.ts";
import { CONTROL, LANE_SOURCE, OPERATION, spinsFor, STATUS, TASK_FIELDS } from "./lane_source.ts";

/** What a lane does for one slot. */
export interface LaneTask {
  /** Which call moves the bytes. */
  readonly operation: keyof typeof OPERATION;
  /** An address, or the file descriptor to write to. */
  readonly destination: bigint;
  /** An address, or the file descriptor to read from. */
  readonly source: bigint;
  /** How many bytes. */
  readonly byteLength: number;
  /** Where in the file. */
  readonly fileOffset?: number;
}

/** How many lanes there are. */
export interface LaneCounts {
  /** Lanes for memory and files that have their pages; each is a thread. */
  readonly laneCount: number;
  /** Lanes for fresh memory, whose pages the system clears while lanes fill them. */
  readonly freshLaneCount: number;
}

/** The lanes of one engine. */
export class CopyLanes {
  readonly #slotCount: number;
  readonly #counts: LaneCounts;
  readonly #control: SharedArrayBuffer;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #fields: BigInt64Array<SharedArrayBuffer>;
  #first: Worker | undefined;
  #isBroken = false;

  /** Prepares for `slotCount` slots; no lane runs until {@link CopyLanes.start}. */
  constructor(slotCount: number, counts: LaneCounts) {
    this.#slotCount = slotCount;
    this.#counts = counts;
    this.#control = new SharedArrayBuffer(4 * (CONTROL.queue + 2 * this.#slotCount));
    this.#words = new Int32Array(this.#control);
    this.#fields = new BigInt64Array(new SharedArrayBuffer(8 * TASK_FIELDS * this.#slotCount));
  }

  /**
   * Starts the first lane, about 40 ms, which starts the others, about half a second. Until a lane
   * runs, and where workers cannot be had, the calling thread does the work.
   */
  start(): void {
    if (this.#isBroken || this.#first !== undefined) return;
    const source = `data:text/javascript,${encodeURIComponent(LANE_SOURCE)}`;
    const workerData = {
      control: this.#control,
      tasks: this.#fields.buffer,
      slotCount: this.#slotCount,
      library: HOST_LIBRARY,
      spins: spinsFor(navigator.hardwareConcurrency),
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

  /** Lets the extra lanes work, until the returned object is disposed. */
  callExtra(): Disposable {
    Atomics.add(this.#words, CONTROL.fresh, 1);
    Atomics.notify(this.#words, CONTROL.fresh);
    return { [Symbol.dispose]: () => void Atomics.sub(this.#words, CONTROL.fresh, 1) };
  }

  /** Queues a task for a slot that has none. */
  submit(slot: number, task: LaneTask): void {
    const { operation, destination, source, byteLength, fileOffset = 0 } = task;
    const words = this.#words;
    const at = slot * TASK_FIELDS;
    this.#fields[at] = OPERATION[operation];
    this.#fields[at + 1] = destination;
    this.#fields[at + 2] = source;
    this.#fields[at + 3] = BigInt(byteLength);
    this.#fields[at + 4] = BigInt(fileOffset);
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

  /** Does one waiting task on the calling thread while no lane runs yet; false when there is none. */
  help(): boolean {
    const words = this.#words;
    if (Atomics.load(words, CONTROL.alive) > 0) return false;
    const tail = Atomics.load(words, CONTROL.tail);
    if (tail === Atomics.load(words, CONTROL.head)) return false;
    const slot = Atomics.load(words, CONTROL.queue + tail % this.#slotCount);
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
    this.#wake(Infinity);
  }

  #wake(laneCount: number): void {
    Atomics.add(this.#words, CONTROL.signal, 1);
    if (Atomics.load(this.#words, CONTROL.sleepers) === 0) return;
    Atomics.notify(this.#words, CONTROL.signal, laneCount);
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
