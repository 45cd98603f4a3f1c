// Lanes: threads that move bytes between page-locked slots and ordinary memory or files, several at once.
// One thread copies a quarter of what the bus takes; the JavaScript thread only hands out the work.

import { findHost, FUTEX, hostLibrary, openHost, pageBytes, SYS_FUTEX } from "../../ffi/host.ts";
import { addressOf } from "../memory/host_memory.ts";
import { type EngineLimits, PART_SLOTS } from "../transfer/ways.ts";
import { ArrayMaker } from "./array_maker.ts";
import { CONTROL, LANE_CODES, LANE_SYMBOLS, startFirstLane, STATUS } from "./lane_program.ts";
import { type Executor, type LaneTask, LaneTasks, type TaskStatus } from "./lane_tasks.ts";

/** Lanes to prepare. */
export interface LaneOptions extends Pick<EngineLimits, "laneCount" | "sharedLaneCount"> {
  /** Processors that they keep to; all that the program may use when left out. */
  readonly cores?: Uint8Array<ArrayBuffer> | undefined;
  /** Count of the first task, 32 bits; 0 when left out: others after hours of work, and in tests. */
  readonly firstTask?: number | undefined;
}

/** More lanes than there ever are. */
const EVERYONE = 2 ** 31 - 1;

/** Lanes, the queue of their tasks, and the tasks' ends. */
export class CopyLanes implements Executor {
  /** There is a C library to copy with; without one no lane can run either. */
  readonly hasLibrary: boolean = findHost() !== undefined;
  readonly #slotCount: number;
  readonly #options: LaneOptions;
  readonly #words: Int32Array<SharedArrayBuffer>;
  /** The tasks of all slots. */
  readonly tasks: LaneTasks;
  /** The first slot of those beside rings', for parts of arrays that the caller copies as well. */
  readonly firstPart: number;
  /** New arrays that lanes make. */
  readonly arrays: ArrayMaker;
  #isStarted = false;
  #address: bigint | undefined;

  /** Prepares for `ringSlotCount` slots; no lane runs until {@link CopyLanes.start}. */
  constructor(ringSlotCount: number, options: LaneOptions) {
    // A power of two: then the queue goes on where 32 bits end, which lanes reach within hours.
    const slotCount = 2 ** Math.ceil(Math.log2(ringSlotCount + PART_SLOTS));
    this.firstPart = ringSlotCount;
    this.#slotCount = slotCount;
    this.#options = options;
    this.#words = new Int32Array(new SharedArrayBuffer(4 * (CONTROL.queue + 2 * slotCount)));
    this.#words[CONTROL.head] = this.#words[CONTROL.tail] = options.firstTask ?? 0;
    this.tasks = new LaneTasks(slotCount);
    this.arrays = new ArrayMaker(this.#words);
  }

  /**
   * Starts the first lane, 40 to 120 ms, which starts the others, about a second. Until a lane
   * runs, and where workers cannot be had, others do the work.
   */
  start(): void {
    if (this.#isStarted || !this.hasLibrary) return;
    this.#isStarted = true;
    const { laneCount, sharedLaneCount, cores } = this.#options;
    const job = {
      words: this.#words,
      address: this.#wordAddress(0),
      fields: this.tasks.fields,
      slotCount: this.#slotCount,
      codes: LANE_CODES,
      library: hostLibrary(),
      symbols: LANE_SYMBOLS,
      pageBytes: pageBytes(),
      cores,
      lane: 0,
      laneCount,
      totalCount: Math.max(laneCount, sharedLaneCount),
    };
    try {
      startFirstLane(job, this.arrays.openPorts(laneCount));
    } catch {
      // others do its work
    }
  }

  /** Number of lanes that run and take ordinary work. */
  get runningCount(): number {
    return Math.min(Atomics.load(this.#words, CONTROL.alive), this.#options.laneCount);
  }

  /** Tells whether most lanes sleep, so that a transfer would wait for them. */
  get areAsleep(): boolean {
    return 2 * this.#sleeperCount > this.runningCount;
  }

  /** Number of lanes that look for work or have some. */
  get awakeCount(): number {
    return Math.max(0, this.runningCount - this.#sleeperCount);
  }

  /** Number of tasks that they work on at a time. */
  get handCount(): number {
    const isExtra = Atomics.load(this.#words, CONTROL.extra) > 0;
    return isExtra ? Atomics.load(this.#words, CONTROL.alive) : this.runningCount;
  }

  /** Number of further tasks that they take now: any, while a lane runs. */
  get freeCount(): number {
    return this.runningCount === 0 ? 0 : Infinity;
  }

  /** Wakes all lanes that sleep, within a quarter millisecond; they look for work for a while. */
  rouse(): void {
    this.#wake(EVERYONE);
  }

  /** Lets the extra lanes work, or sleep again. */
  callExtra(isNeeded: boolean): void {
    Atomics.store(this.#words, CONTROL.extra, isNeeded ? 1 : 0);
    if (isNeeded) this.#futexWake(CONTROL.extra, EVERYONE);
  }

  /** Queues a task for a free slot. */
  submit(slot: number, task: LaneTask): void {
    this.tasks.write(slot, task);
    const words = this.#words;
    Atomics.store(words, this.#statusWord(slot), STATUS.pending);
    const head = Atomics.load(words, CONTROL.head);
    Atomics.store(words, CONTROL.queue + (head & (this.#slotCount - 1)), slot);
    Atomics.store(words, CONTROL.head, head + 1);
    this.#wake(1);
  }

  /** Returns the state of a slot's task. */
  poll(slot: number): TaskStatus {
    const status = Atomics.load(this.#words, this.#statusWord(slot));
    if (status === STATUS.pending) return "pending";
    return status === STATUS.done ? "done" : "failed";
  }

  /** Blocks until a slot's task is done, and does waiting tasks meanwhile. */
  rest(slot: number): void {
    while (this.poll(slot) === "pending") this.#doNext();
  }

  /** Does the oldest waiting task on the calling thread, if it is that of a part. */
  helpWithPart(): void {
    this.#doNext(this.firstPart);
  }

  /** Blocks until a lane finishes something, for at most `milliseconds`. */
  waitSync(milliseconds: number): void {
    const words = this.#words;
    Atomics.wait(words, CONTROL.done, Atomics.load(words, CONTROL.done), milliseconds);
  }

  /** Ends the lanes; none of them may have work. */
  dispose(): void {
    this.arrays.dispose();
    Atomics.store(this.#words, CONTROL.stop, 1);
    this.callExtra(true);
    this.#wake(EVERYONE);
  }

  get #sleeperCount(): number {
    return Atomics.load(this.#words, CONTROL.sleepers);
  }

  #wake(laneCount: number): void {
    Atomics.add(this.#words, CONTROL.signal, 1);
    if (this.#sleeperCount === 0) return;
    const woken = this.#futexWake(CONTROL.signal, laneCount);
    Atomics.sub(this.#words, CONTROL.sleepers, woken);
  }

  /** Wakes lanes that sleep on a word, and returns their number. */
  #futexWake(word: number, laneCount: number): number {
    if (!this.#isStarted) return 0;
    const address = this.#wordAddress(word);
    return Number(openHost().futex(SYS_FUTEX, address, FUTEX.WAKE_PRIVATE, laneCount, null));
  }

  #wordAddress(word: number): bigint {
    this.#address ??= addressOf(this.#words);
    return this.#address + BigInt(4 * word);
  }

  /** Does the oldest waiting task on the calling thread, if it is that of a slot from the first one on. */
  #doNext(firstSlot = 0): void {
    const words = this.#words;
    const tail = Atomics.load(words, CONTROL.tail);
    if (tail === Atomics.load(words, CONTROL.head)) return;
    const slot = Atomics.load(words, CONTROL.queue + (tail & (this.#slotCount - 1)));
    if (slot < firstSlot) return;
    if (Atomics.compareExchange(words, CONTROL.tail, tail, tail + 1) !== tail) return;
    const status = this.tasks.run(slot) ? STATUS.done : STATUS.failed;
    Atomics.store(words, this.#statusWord(slot), status);
  }

  #statusWord(slot: number): number {
    return CONTROL.queue + this.#slotCount + slot;
  }
}
