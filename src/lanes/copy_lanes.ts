// Threads that move bytes between page-locked slots and ordinary memory or files, several at once:
// workers, and until these run the threads that the runtime lends to FFI calls. One thread copies a
// quarter of what the bus takes; the JavaScript thread only hands out the work.

import { findHost, FUTEX, hostLibrary, MADV, openHost, SYS_FUTEX } from "../../ffi/host.ts";
import { addressOf } from "../memory/host_memory.ts";
import { ArrayMaker } from "./array_maker.ts";
import type { MemoryPart, PageMaker } from "./fresh_pages.ts";
import { CONTROL, LANE_CODES, LANE_SYMBOLS, startFirstLane, STATUS } from "./lane_program.ts";
import { type LaneTask, LaneTasks } from "./lane_tasks.ts";
import { giveThreadBack, takeThread } from "./lent_threads.ts";

/** Options for handing out tasks. */
export interface Lending {
  /**
   * Whether the caller leaves turns to the event loop, in which lent threads report that they are
   * done.
   */
  readonly canLend: boolean;
}

/** Numbers of lanes. */
export interface LaneCounts {
  /** Lanes for memory and files that have their pages; each is a thread. */
  readonly laneCount: number;
  /**
   * Lanes that there are: those beyond the others work for fresh memory, whose pages the system clears
   * while lanes fill them, and for several devices at once.
   */
  readonly freshLaneCount: number;
}

/** Lanes to prepare. */
export interface LaneOptions extends LaneCounts {
  /** Processors that they keep to; all that the program may use when left out. */
  readonly cores?: Uint8Array<ArrayBuffer> | undefined;
  /** Slots of the ring that belong to one engine; all of them when left out. */
  readonly slotsEach?: number | undefined;
  /** Count of the first task, 32 bits; 0 when left out: others after hours of work, and in tests. */
  readonly firstTask?: number | undefined;
}

/**
 * Time for which a lane looks for the next task before it sleeps. A lane that falls asleep while it
 * waits for a slot, or between two transfers, costs them up to half of their speed. On few cores
 * looking takes time from others.
 */
const PATIENCE_MILLISECONDS = navigator.hardwareConcurrency >= 8 ? 2 : 0;

/** Looks for the end of a task before events are looked at again: some 3 microseconds. */
const LOOKS = 500;

/** Slots beside those of the ring: pages of two arrays of the largest size, or parts of one array. */
const PAGE_SLOTS = 32;

/** More lanes than there ever are. */
const EVERYONE = 2 ** 31 - 1;

/** A task on a thread that the runtime lends. */
interface Loan {
  /** Its slot. */
  readonly slot: number;
  /** Called when the thread is back and nothing waits for the task any more. */
  onReturn: (() => void) | undefined;
}

/** Lanes, the queue of their tasks, and the tasks' ends. */
export class CopyLanes implements PageMaker {
  readonly #slotCount: number;
  readonly #slotsEach: number;
  readonly #counts: LaneCounts;
  readonly #cores: Uint8Array<ArrayBuffer> | undefined;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #tasks: LaneTasks;
  /** Tasks of threads that the runtime lends, by slot. */
  readonly #lent = new Map<number, Loan>();
  /** Tasks whose threads have not come back; they may be done long before. */
  readonly #away = new Set<Loan>();
  /** Slots for pages. */
  readonly #pageSlots: readonly number[];
  /** New arrays that lanes make. */
  readonly arrays: ArrayMaker;
  #isStarted = false;
  #address: bigint | undefined;

  /** Prepares for `ringSlotCount` slots; no lane runs until {@link CopyLanes.start}. */
  constructor(
    ringSlotCount: number,
    { cores, slotsEach = ringSlotCount, firstTask = 0, ...counts }: LaneOptions,
  ) {
    // A power of two: then the queue goes on where 32 bits end, which lanes reach within hours.
    const slotCount = 2 ** Math.ceil(Math.log2(ringSlotCount + PAGE_SLOTS));
    this.#pageSlots = Array.from({ length: PAGE_SLOTS }, (_, at) => ringSlotCount + at);
    this.#slotCount = slotCount;
    this.#slotsEach = slotsEach;
    this.#counts = counts;
    this.#cores = cores;
    this.#words = new Int32Array(new SharedArrayBuffer(4 * (CONTROL.queue + 2 * slotCount)));
    this.#words[CONTROL.head] = this.#words[CONTROL.tail] = firstTask;
    this.#tasks = new LaneTasks(slotCount);
    this.arrays = new ArrayMaker(this.#words);
    for (const slot of this.#pageSlots) this.#note(slot, true);
  }

  /**
   * Starts the first lane, 40 to 120 ms, which starts the others, about a second. Until a lane
   * runs, and where workers cannot be had, lent threads or the calling thread do the work.
   */
  start(): void {
    if (this.#isStarted || !this.hasLibrary) return;
    this.#isStarted = true;
    const { fields, lists } = this.#tasks;
    const { laneCount, freshLaneCount } = this.#counts;
    const job = {
      words: this.#words,
      address: this.#wordAddress(0),
      fields,
      lists,
      slotCount: this.#slotCount,
      codes: LANE_CODES,
      library: hostLibrary(),
      symbols: LANE_SYMBOLS,
      patience: PATIENCE_MILLISECONDS,
      cores: this.#cores,
      lane: 0,
      laneCount,
      totalCount: Math.max(laneCount, freshLaneCount),
    };
    try {
      startFirstLane(job, this.arrays.openPorts(laneCount));
    } catch {
      // others do its work
    }
  }

  /** Whether there is a C library to copy with; without one no lane can run either. */
  get hasLibrary(): boolean {
    return findHost() !== undefined;
  }

  /** Number of lanes that run and take ordinary work. */
  get runningCount(): number {
    return Math.min(Atomics.load(this.#words, CONTROL.alive), this.#counts.laneCount);
  }

  /** Whether most lanes sleep, so that a transfer would wait for them. */
  get areAsleep(): boolean {
    return 2 * this.#sleeperCount > this.runningCount;
  }

  /** Number of lanes that look for work or have some. */
  get awakeCount(): number {
    return Math.max(0, this.runningCount - this.#sleeperCount);
  }

  /** Slots beside those of the ring that have no task. */
  get freeSlots(): readonly number[] {
    return this.#pageSlots.filter((slot) => this.status(slot) !== "pending");
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

  /** Queues a task for a free slot. */
  submit(slot: number, task: LaneTask): void {
    this.#tasks.write(slot, task);
    const words = this.#words;
    Atomics.store(words, this.#statusWord(slot), STATUS.pending);
    const head = Atomics.load(words, CONTROL.head);
    Atomics.store(words, CONTROL.queue + (head & (this.#slotCount - 1)), slot);
    Atomics.store(words, CONTROL.head, head + 1);
    this.#wake(1);
  }

  /**
   * Has the pages of memory made, by a lane for each part, as far as there are slots for that. The memory
   * may be freed meanwhile: pages change no byte, whoever has it.
   */
  makePages(parts: readonly MemoryPart[]): void {
    const slots = this.freeSlots;
    for (const [at, { address, byteLength }] of parts.entries()) {
      const slot = slots[at];
      if (slot === undefined) return;
      this.submit(slot, {
        operation: "makePages",
        destination: address,
        source: BigInt(MADV.POPULATE_WRITE),
        byteLength,
      });
    }
  }

  /** Returns the status of a slot's task. */
  status(slot: number): "pending" | "done" | "failed" {
    const status = Atomics.load(this.#words, this.#statusWord(slot));
    if (status === STATUS.pending) return "pending";
    return status === STATUS.done ? "done" : "failed";
  }

  /**
   * Does one waiting task on the calling thread: any task while no other thread can, a brief one
   * while lanes are waking up. Returns false when there is none.
   */
  help({ canLend }: Lending): boolean {
    if (!this.hasWaiting) return false;
    const slot = this.#take((slot) => {
      if (this.runningCount === 0) {
        if (this.#tasks.isForLanes(slot)) return true;
        return !canLend;
      }
      return this.#sleeperCount > 0 && this.#tasks.isBrief(slot);
    });
    if (slot === undefined) return false;
    this.#note(slot, this.#tasks.run(slot));
    return true;
  }

  /** Does the oldest waiting task on the calling thread, if it is that of one of these slots. */
  helpWith(slots: readonly number[]): void {
    if (!this.hasWaiting) return;
    const slot = this.#take((slot) => slots.includes(slot));
    if (slot !== undefined) this.#note(slot, this.#tasks.run(slot));
  }

  /**
   * Gives waiting tasks to threads that the runtime lends, in the place of lanes that do not run
   * yet. Their tasks are over when the event loop has its turn. Returns false when there is no task
   * to give.
   */
  lend(): boolean {
    if (!this.hasWaiting) return false;
    const before = this.#away.size;
    while (this.#away.size < this.#spareCount && takeThread()) {
      const slot = this.#take((slot) => !this.#tasks.isForLanes(slot) && this.#canLend(slot));
      if (slot === undefined) {
        giveThreadBack();
        break;
      }
      this.#runElsewhere(slot);
    }
    return this.#away.size > before;
  }

  /** Returns whether only a turn of the event loop can tell that a slot's task is done. */
  needsTurn(slot: number): boolean {
    return this.#lent.has(slot) && this.status(slot) === "pending";
  }

  /** Does a slot's task once more, on the calling thread, even while another thread does it. */
  repeat(slot: number): boolean {
    return this.#tasks.run(slot);
  }

  /** Leaves a slot to the thread that does its task; calls `onReturn` when the thread is back. */
  leave(slot: number, onReturn: () => void): void {
    const loan = this.#lent.get(slot);
    if (loan === undefined) return onReturn();
    loan.onReturn = onReturn;
    this.#lent.delete(slot);
  }

  /** Forgets the array of a slot whose task is over: a slot that waits for its next task keeps none. */
  forget(slot: number): void {
    this.#tasks.forget(slot);
  }

  /** Number of tasks that lanes and lent threads can work on at a time. */
  get handCount(): number {
    const isExtra = Atomics.load(this.#words, CONTROL.fresh) > 0;
    const lanes = isExtra ? Atomics.load(this.#words, CONTROL.alive) : this.runningCount;
    return lanes + this.#spareCount;
  }

  /**
   * Number of tasks that may be lent at a time: more than there would be lanes, because each comes
   * back through the event loop.
   */
  get #spareCount(): number {
    if (this.runningCount === this.#counts.laneCount) return 0;
    return this.#counts.freshLaneCount - this.runningCount;
  }

  /**
   * Returns whether a thread may have a slot until a turn of the event loop. Half of an engine's stay for
   * callers that block: they give no turn, and would wait for a slot for ever.
   */
  #canLend(slot: number): boolean {
    const each = this.#slotsEach;
    const first = slot - slot % each;
    return this.lentCountIn(first, first + each) < each >> 1;
  }

  /** Number of lent threads that have not come back to slots from `first` to `end`. */
  lentCountIn(first: number, end: number): number {
    let count = 0;
    for (const { slot } of this.#away) if (slot >= first && slot < end) count++;
    return count;
  }

  /** Number of tasks that lanes have finished so far; it starts again from the lowest number. */
  get doneCount(): number {
    return Atomics.load(this.#words, CONTROL.done);
  }

  /**
   * Looks for some microseconds whether lanes have finished more than `seen` tasks, without a trace: a
   * look at all slots and events costs more than that, and leaves garbage.
   */
  lookForDone(seen: number): void {
    const words = this.#words;
    for (let look = 0; look < LOOKS; look++) if (Atomics.load(words, CONTROL.done) !== seen) return;
  }

  /** Blocks until a lane finishes something, for at most `milliseconds`. */
  waitSync(milliseconds: number): void {
    const done = Atomics.load(this.#words, CONTROL.done);
    Atomics.wait(this.#words, CONTROL.done, done, milliseconds);
  }

  /** Ends the lanes; none of them may have work. */
  dispose(): void {
    this.arrays.dispose();
    Atomics.store(this.#words, CONTROL.stop, 1);
    this.callExtra();
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

  /** Whether a task waits for a hand. */
  get hasWaiting(): boolean {
    return Atomics.load(this.#words, CONTROL.tail) !== Atomics.load(this.#words, CONTROL.head);
  }

  /** Takes the oldest waiting task, if there is one and the caller accepts it. */
  #take(isWanted: (slot: number) => boolean): number | undefined {
    const words = this.#words;
    const tail = Atomics.load(words, CONTROL.tail);
    if (tail === Atomics.load(words, CONTROL.head)) return undefined;
    const slot = Atomics.load(words, CONTROL.queue + (tail & (this.#slotCount - 1)));
    if (!isWanted(slot)) return undefined;
    const isTaken = Atomics.compareExchange(words, CONTROL.tail, tail, tail + 1) === tail;
    return isTaken ? slot : undefined;
  }

  async #runElsewhere(slot: number): Promise<void> {
    const loan: Loan = { slot, onReturn: undefined };
    this.#lent.set(slot, loan);
    this.#away.add(loan);
    const isDone = await this.#tasks.runElsewhere(slot).catch(() => false);
    this.#away.delete(loan);
    giveThreadBack();
    if (loan.onReturn !== undefined) return loan.onReturn();
    if (this.#lent.get(slot) === loan) this.#lent.delete(slot);
    this.#note(slot, isDone);
  }

  #note(slot: number, isDone: boolean): void {
    Atomics.store(this.#words, this.#statusWord(slot), isDone ? STATUS.done : STATUS.failed);
  }

  #statusWord(slot: number): number {
    return CONTROL.queue + this.#slotCount + slot;
  }
}
