// Moves large arrays and files at the speed of the bus: threads fill or drain page-locked slots while
// the copy engine works on others. All driver calls stay on the JavaScript thread.

import type { MemoryCache } from "../accounting/ledger.ts";
import { TransferStreams } from "../copies/transfer_streams.ts";
import type { Context } from "../driver/context.ts";
import { releaseAll } from "../driver/release.ts";
import type { ArrayMaker } from "../lanes/array_maker.ts";
import type { CopyLanes } from "../lanes/copy_lanes.ts";
import { LaneShare } from "../lanes/lane_share.ts";
import type { Executor } from "../lanes/lane_tasks.ts";
import { LentThreads } from "../lanes/lent_threads.ts";
import { keepMemory } from "../lanes/memory_keeper.ts";
import { busIdOf, type CoreSystem, findNearCores, OWN_SYSTEM } from "../lanes/near_cores.ts";
import type { Fence } from "../order/fence.ts";
import { CAN_BE_TERMINATED, nextTurn } from "../order/waiting.ts";
import { sleep } from "../words/timer.ts";
import { PinnedRing, type Slot } from "./pinned_ring.ts";
import { type LoadedSlot, movedAway, type RingRequest, RingTransfer } from "./ring_transfer.ts";
import {
  DEFAULT_LIMITS,
  type EngineLimits,
  goesThroughRing,
  limitsOnCores,
  MANY_LANES,
  MAX_AT_ONCE,
  MAX_START_MILLISECONDS,
  MIN_LANES,
  MIN_WAKING_BYTES,
  NAP_MILLISECONDS,
  PATIENCE_MILLISECONDS,
  SLOTS_AHEAD,
  SLOTS_TOGETHER,
} from "./ways.ts";

/** The events before a program's last turn: an uncaught error frees its arrays before it is printed. */
const LAST_EVENTS = ["error", "unhandledrejection", "unload"] as const;

/** A slot that a thread works on. */
interface HeldSlot extends LoadedSlot {
  readonly executor: Executor;
}

/** The ring of one context, a cache that can be trimmed, and its part in the lanes of the host. */
export class TransferEngine implements MemoryCache {
  readonly name = "transfer ring";
  readonly kind = "pinned";
  readonly #context: Context;
  /** Limits of its size and thresholds of its ways. */
  readonly limits: EngineLimits;
  readonly #ring: PinnedRing;
  readonly #share: LaneShare<TransferEngine>;
  readonly #lent: LentThreads;
  /** Slots whose bytes wait for a thread. */
  readonly #due: LoadedSlot[] = [];
  /** Slots that a thread works on. */
  #held: HeldSlot[] = [];
  /**
   * Transfers whose turn it is. Looks that find nothing follow each other within a microsecond, and what
   * each of them leaves to the garbage collector took a third of the time of a transfer.
   */
  #running: readonly RingTransfer[] = [];
  /** Slots of downloads, from their copies to the end of their threads' work. */
  #arrivingCount = 0;
  /** Something could move in the last look. */
  #hasMoved = false;
  /** Transfers that wait for their turn. */
  readonly #waiting = new Set<RingTransfer>();
  /**
   * Resolves when threads that kept arrays are back. Only transfers wait for them: in a program that keeps
   * all threads busy they come late, which holds up neither small transfers nor streams.
   */
  #returning: Promise<void> | undefined;
  /** Time at which lanes were last looked for that were asleep. */
  #lastLook = -Infinity;
  readonly #restAll = () => this.#rest(this.#running);

  /** Starts with no memory and no lanes; both come with the first transfer. */
  constructor(
    context: Context,
    limits: EngineLimits = DEFAULT_LIMITS,
    { system = OWN_SYSTEM }: { readonly system?: CoreSystem } = {},
  ) {
    const { driver, deviceHandle } = context;
    const fewest = Math.min(MANY_LANES, limits.laneCount);
    const nearCores = findNearCores(() => busIdOf(driver, deviceHandle), { fewest, system });
    this.#context = context;
    this.limits = nearCores === undefined ? limits : limitsOnCores(limits, nearCores.count);
    const { slotCount, sharedLaneCount } = this.limits;
    this.#share = new LaneShare(driver, this, { ...this.limits, nearCores });
    // Half of the slots stay for callers that block: they give no turn, in which threads come back.
    this.#lent = new LentThreads(this.lanes.tasks, Math.min(sharedLaneCount, slotCount >> 1));
    const { firstSlot: firstIndex } = this.#share;
    this.#ring = new PinnedRing(context, this.limits, { firstIndex, node: nearCores?.node });
    context.ledger.caches.add(this).add(this.lanes.arrays);
  }

  /** Bytes of page-locked memory it holds. */
  get byteLength(): number {
    return this.#ring.byteLength;
  }

  /** Frees the ring when no transfer is under way. */
  trim(): void {
    this.#ring.trim();
  }

  /** The lanes, which other devices use as well. */
  get lanes(): CopyLanes {
    return this.#share.lanes;
  }

  /** New arrays that lanes make; undefined while few lanes run, which have enough to do. */
  get arrays(): ArrayMaker | undefined {
    return this.lanes.runningCount < MANY_LANES ? undefined : this.lanes.arrays;
  }

  /**
   * Lanes that copy together with the caller: undefined while too few are awake. A program that makes
   * one such transfer after the other finds them awake.
   */
  get awakeLanes(): CopyLanes | undefined {
    const { lanes } = this;
    if (lanes.runningCount < MANY_LANES) return undefined;
    if (lanes.awakeCount >= MIN_LANES) return lanes;
    const now = performance.now();
    if (now - this.#lastLook < PATIENCE_MILLISECONDS) lanes.rouse();
    this.#lastLook = now;
    return undefined;
  }

  /** Tells whether threads are lent until lanes run, for transfers that are awaited. */
  get canLend(): boolean {
    return !CAN_BE_TERMINATED && this.limits.laneCount >= MANY_LANES && this.lanes.hasLibrary;
  }

  /** Tells whether other devices have transfers under way. */
  get isShared(): boolean {
    const { active } = this.#share;
    return active.size > (active.has(this) ? 1 : 0);
  }

  /**
   * Returns whether there is a ring for the rest of a transfer, that pays: it needs page-locked memory and
   * threads. Wakes lanes that sleep, for this transfer or the next.
   */
  hasRingFor(byteLength: number, { canLend }: { readonly canLend: boolean }): boolean {
    const laneCount = this.lanes.runningCount;
    const hands = { laneCount, canLend: canLend && this.canLend };
    if (!goesThroughRing(byteLength, hands, this.limits)) return false;
    if (laneCount > 0 && this.lanes.areAsleep) {
      this.lanes.rouse();
      if (byteLength < MIN_WAKING_BYTES) return false;
    }
    return this.#ring.prepare();
  }

  /** Starts the lanes if so many could pay; until they run others do their work. */
  startLanes(): void {
    if (this.limits.laneCount >= MIN_LANES) this.lanes.start();
  }

  /** Starts the lanes if they would pay, and waits about a second until they run. */
  async runLanes(): Promise<void> {
    this.startLanes();
    const end = performance.now() + MAX_START_MILLISECONDS;
    const { laneCount } = this.limits;
    while (laneCount >= MIN_LANES && this.lanes.hasLibrary && performance.now() < end) {
      if (this.lanes.runningCount >= laneCount) return;
      await sleep(5);
    }
  }

  /** Starts a transfer behind the GPU's work; {@link TransferEngine.advance} moves it until it is over. */
  start(request: RingRequest, entry?: Fence): RingTransfer {
    const transfer = new RingTransfer(request, { ...this.limits, entry });
    if (this.#running.length + this.#waiting.size === 0) {
      for (const event of LAST_EVENTS) globalThis.addEventListener(event, this.#restAll);
      this.#share.begin();
    }
    this.#waiting.add(transfer);
    this.#admit();
    return transfer;
  }

  /**
   * Advances all transfers, or naps; returns false when nothing could move. A caller that leaves turns
   * to the event loop advances other devices' transfers as well: they have one thread, and each of
   * them would wait while another has its time of a turn.
   */
  advance({ canLend }: { readonly canLend: boolean }): boolean {
    const moved = this.#pump(canLend);
    if (canLend && this.#share.active.size > 1) {
      for (const other of this.#share.active) if (other !== this) other.#pump(canLend);
    }
    if (moved) return true;
    if (NAP_MILLISECONDS > 0) this.lanes.waitSync(NAP_MILLISECONDS);
    return false;
  }

  /** Number of lent threads that have not come back. */
  get lentCount(): number {
    return this.#lent.awayCount;
  }

  /**
   * Prepares for the program to run, which can transfer its arrays away: the arrays are kept, or
   * else the lanes come to rest. A worker can be ended in a turn of its event loop, so there the
   * lanes always rest.
   */
  beforeProgram(): void {
    for (const engine of this.#share.active) engine.#leaveToProgram();
  }

  #leaveToProgram(): void {
    for (const transfer of this.#running) transfer.noteProgram();
    const all = [...this.#running, ...this.#waiting].filter((transfer) => transfer.isUnkept);
    if (all.length === 0 || this.lanes.runningCount === 0 || this.#keep(all)) return;
    // There may be too few threads for all; lanes use only the arrays of transfers that have their turn.
    const running = all.filter((transfer) => this.isRunning(transfer));
    if (running.length > 0 && !this.#keep(running)) this.#rest(running);
  }

  /** Keeps the arrays of transfers until all of these are over; returns false when it cannot. */
  #keep(transfers: readonly RingTransfer[]): boolean {
    if (CAN_BE_TERMINATED) return false;
    const arrays = transfers.flatMap(({ arrays }) => arrays);
    const keeper = keepMemory(arrays, transfers.length);
    for (const transfer of transfers) transfer.keeper = keeper;
    return keeper !== undefined;
  }

  /** Returns whether a transfer has its turn; the others wait. */
  isRunning(transfer: RingTransfer): boolean {
    return this.#running.includes(transfer);
  }

  /** Ends a transfer early; pieces in flight are still completed. */
  fail(transfer: RingTransfer, error: unknown): void {
    transfer.fail(error);
    if (this.#waiting.delete(transfer)) this.#letGo(transfer);
    if (this.isRunning(transfer) && transfer.isOver) this.#end(transfer);
  }

  /** Ends a transfer that is over, and lets one that waits have its turn. */
  #end(transfer: RingTransfer): void {
    this.#hasMoved = true;
    this.#running = this.#running.filter((other) => other !== transfer);
    if (transfer.stream !== undefined) TransferStreams.of(this.#context).put(transfer.stream);
    this.#admit();
    this.#letGo(transfer);
  }

  /** Notes that nothing uses the arrays of a transfer any more, and when there are no transfers any more. */
  #letGo(transfer: RingTransfer): void {
    const returned = transfer.keeper?.letGo();
    if (returned !== undefined) {
      this.#returning = Promise.all([this.#returning, returned]).then(() => {});
    }
    transfer.keeper = undefined;
    if (this.#running.length + this.#waiting.size > 0) return;
    this.#share.end();
    for (const event of LAST_EVENTS) globalThis.removeEventListener(event, this.#restAll);
  }

  /**
   * Resolves when lent threads are back, some microseconds after their work is done: a program or a
   * test may check that nothing is under way.
   */
  async atRest(): Promise<void> {
    await this.#returning;
    while (this.lentCount > 0 && this.#running.length === 0) await nextTurn();
  }

  /** Ends the lanes and frees the ring. */
  dispose(): void {
    releaseAll(this.#context.driver, "threads and memory for transfers", [
      () => this.#share.release(),
      () => this.trim(),
      () => this.#context.ledger.caches.delete(this),
      () => this.#context.ledger.caches.delete(this.lanes.arrays),
    ]);
  }

  /** Gives waiting transfers their turn, as many as may run at a time. */
  #admit(): void {
    for (const transfer of this.#waiting) {
      if (this.#running.length >= MAX_AT_ONCE) return;
      this.#waiting.delete(transfer);
      try {
        transfer.stream = TransferStreams.of(this.#context).take();
        this.#running = [...this.#running, transfer];
        transfer.entry?.hold(transfer.stream.handle);
      } catch (error) {
        transfer.fail(error);
        this.#letGo(transfer);
      }
    }
  }

  /** Waits until no lane uses the arrays of some transfers; lent threads keep theirs. */
  #rest(transfers: readonly RingTransfer[]): void {
    for (const { slot, transfer, executor } of this.#held) {
      if (transfers.includes(transfer) && executor !== this.#lent) executor.rest(slot.index);
    }
  }

  /** Advances every slot that can move; returns false when none could. */
  #pump(canLend: boolean): boolean {
    this.#hasMoved = false;
    this.#afterThreads();
    this.#load();
    const turns = this.#running;
    for (let turn = 0; turn < turns.length; turn++) this.#afterCopies(turns[turn] as RingTransfer);
    for (let turn = 0; turn < turns.length; turn++) {
      const transfer = turns[turn] as RingTransfer;
      if (transfer.isOver) this.#end(transfer);
    }
    if (this.#due.length > 0) this.#handOut(canLend);
    if (!canLend) this.#takeBack();
    return this.#hasMoved;
  }

  /**
   * Gives slots that are due to threads: to lanes, to lent threads until these run, and where neither may
   * be had, this one does the work.
   */
  #handOut(canLend: boolean): void {
    const { lanes } = this;
    const mayLend = canLend && this.canLend;
    let keptCount = 0;
    let isBusy = false;
    for (let at = 0; at < this.#due.length; at++) {
      const loaded = this.#due[at] as LoadedSlot;
      const { slot, transfer, piece } = loaded;
      if (!transfer.hasArrays) {
        this.#retire(loaded, { error: movedAway(transfer.arrays) });
        continue;
      }
      const task = piece.laneTask(slot.address);
      const isLent = mayLend && transfer.canLend && LentThreads.takes(task);
      const executor = lanes.freeCount > 0 ? lanes : isLent ? this.#lent : undefined;
      if (executor !== undefined && executor.freeCount > 0) {
        executor.submit(slot.index, task);
        this.#held.push({ slot, transfer, piece, executor });
      } else if (executor === undefined && !isBusy) {
        isBusy = true; // one at a time: the copy engine and the event loop go on in between
        lanes.tasks.write(slot.index, task);
        this.#afterThread(loaded, lanes.tasks.run(slot.index));
      } else this.#due[keptCount++] = loaded;
    }
    this.#hasMoved ||= keptCount < this.#due.length;
    this.#due.length = keptCount;
  }

  /** Does the work of lent threads once more, which report only in a turn that a blocking caller never gives. */
  #takeBack(): void {
    for (const { slot, executor } of this.#held) {
      if (executor !== this.#lent || executor.poll(slot.index) !== "pending") continue;
      executor.rest(slot.index);
      this.#hasMoved = true;
    }
  }

  /** Hands free slots to the transfers that wait, in turn. */
  #load(): void {
    for (let waiting = true; waiting;) {
      waiting = false;
      for (let turn = 0; turn < this.#running.length; turn++) {
        const transfer = this.#running[turn] as RingTransfer;
        if (!transfer.isWaiting) continue;
        const isUpload = transfer.direction === "upload";
        if (isUpload ? this.#hasEnoughForThreads : this.#hasEnoughOnTheWay) continue;
        const slot = this.#takeSlot(transfer);
        if (slot === undefined) return;
        const piece = transfer.next();
        if (piece === undefined) {
          this.#ring.put(slot);
          continue;
        }
        const loaded = { slot, transfer, piece };
        waiting = this.#hasMoved = true;
        if (isUpload) this.#due.push(loaded);
        else transfer.loaded.push(loaded);
        if (!isUpload) this.#arrivingCount++;
      }
    }
  }

  /** Number of tasks of this engine that threads can work on at a time. */
  get #handCount(): number {
    const { lanes } = this;
    return this.#share.partOf(lanes.freeCount > 0 ? lanes.handCount : this.limits.laneCount);
  }

  /** More slots than threads can take soon would only evict each other from the caches. */
  get #hasEnoughForThreads(): boolean {
    return this.#held.length + this.#due.length >= 2 * Math.max(1, this.#handCount);
  }

  /**
   * Bytes that have come from the device wait for a lane in the processor's caches, as long as they are
   * few: two devices brought 68 GB/s with rings of 16 slots, 63 with 32 and 48 with 64.
   */
  get #hasEnoughOnTheWay(): boolean {
    const taken = Math.min(this.#held.length, this.#handCount);
    return this.#arrivingCount - taken >= Math.max(MIN_LANES, this.#share.partOf(SLOTS_AHEAD));
  }

  #takeSlot(transfer: RingTransfer): Slot | undefined {
    try {
      return this.#ring.take(transfer.direction);
    } catch (error) {
      transfer.fail(error);
      return undefined;
    }
  }

  /** Passes on the slots that threads are done with. */
  #afterThreads(): void {
    const slots = this.#held;
    let keptCount = 0;
    for (let at = 0; at < slots.length; at++) {
      const held = slots[at] as HeldSlot;
      const status = held.executor.poll(held.slot.index);
      if (status === "pending") slots[keptCount++] = held;
      else this.#afterThread(held, status === "done");
    }
    this.#hasMoved ||= keptCount < slots.length;
    slots.length = keptCount;
  }

  #afterThread(loaded: LoadedSlot, isDone: boolean): void {
    if (!isDone) this.#retire(loaded, { error: loaded.piece.laneError() });
    else if (loaded.transfer.direction === "upload") loaded.transfer.loaded.push(loaded);
    else this.#retire(loaded);
  }

  /**
   * Queues the copies of a transfer's loaded slots, and passes on those that the copy engine is done with. The
   * copies of an upload wait for each other while the engine has enough to do: between two calls it stands
   * still for two microseconds, a twentieth of the time of a slot.
   */
  #afterCopies(transfer: RingTransfer): void {
    const { loaded, copying, direction } = transfer;
    const most = direction === "upload" ? SLOTS_TOGETHER : 1;
    let count = 0;
    try {
      while (loaded.length >= most || loaded.length > 0 && copying.length < 2) transfer.copy(most);
      while (copying[count]?.at(-1)?.slot.fence.poll() === true) count++;
    } catch (error) {
      return this.#dropCopies(transfer, error);
    }
    if (count === 0) return;
    this.#hasMoved = true;
    for (const done of copying.splice(0, count).flat()) {
      if (direction === "upload") this.#retire(done);
      else this.#due.push(done);
    }
  }

  /**
   * Retires the slots of a transfer whose copies failed. Blocks first, because a slot without a fence must
   * not be reused before its copy is done.
   */
  #dropCopies({ stream, loaded, copying }: RingTransfer, error: unknown): void {
    stream?.context.driver.status("cuStreamSynchronize", stream.handle);
    this.#hasMoved = true;
    for (const slot of [...copying.splice(0), loaded.splice(0)].flat()) {
      this.#retire(slot, { error });
    }
  }

  /** Frees a slot when its thread is back, and tells its transfer how the piece ended. */
  #retire({ slot, transfer, piece }: LoadedSlot, failure?: { error: unknown }): void {
    if (transfer.direction === "download") this.#arrivingCount--;
    const letGo = piece.hold();
    this.#lent.forget(slot.index, () => {
      this.#ring.put(slot);
      letGo?.();
    });
    if (failure === undefined) transfer.finish(piece);
    else transfer.drop(failure.error);
  }
}
