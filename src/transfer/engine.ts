// Moves large arrays and files at the speed of the bus: threads fill or drain page-locked slots while
// the copy engine works on others. All driver calls stay on the JavaScript thread.

import type { MemoryCache } from "../accounting/ledger.ts";
import { type TransferStream, TransferStreams } from "../copies/transfer_streams.ts";
import type { Context } from "../driver/context.ts";
import { releaseAll } from "../driver/release.ts";
import type { ArrayMaker } from "../lanes/array_maker.ts";
import type { CopyLanes, Lending } from "../lanes/copy_lanes.ts";
import { LaneShare } from "../lanes/lane_share.ts";
import { beforeLastTurn } from "../lanes/last_turn.ts";
import { keepMemory, type MemoryKeeper } from "../lanes/memory_keeper.ts";
import { busIdOf, type CoreSystem, findNearCores, OWN_SYSTEM } from "../lanes/near_cores.ts";
import { CAN_BE_TERMINATED, nextTurn } from "../order/waiting.ts";
import { sleep } from "../words/timer.ts";
import { CopyQueue, type FinishedCopies } from "./copy_queue.ts";
import { Demand } from "./demand.ts";
import { type LoadedSlot, PinnedRing, type Slot } from "./pinned_ring.ts";
import { type RingRequest, RingTransfer } from "./ring_transfer.ts";
import { DEFAULT_LIMITS, type EngineLimits, limitsOnCores } from "./tuning.ts";
import {
  FEWEST_LANES,
  LENT_RING_FROM_BYTES,
  MANY_LANES,
  pieceBytesFor,
  WAKING_RING_BYTES,
  type Way,
  wayFor,
} from "./ways.ts";

/** On few cores a blocked thread sleeps between looks; with many it looks all the time. */
const NAP_MILLISECONDS = navigator.hardwareConcurrency >= 8 ? 0 : 0.05;

/** Whether threads that the runtime lends may work for an awaited transfer between two turns. */
const CAN_LEND = !CAN_BE_TERMINATED;

/** Time after which lanes that do not run never will. */
const LANE_START_MILLISECONDS = 3000;

/** Lanes are awakened for transfers that follow each other within so much time. */
const WAKING_MILLISECONDS = 2;

/** Number of transfers that share the ring; more would only evict each other from the caches. */
const MOST_AT_ONCE = 4;

/** Slots that the copy engines of all devices fill before lanes need them, and the fewest of a device. */
const SLOTS_AHEAD = 8;
const FEWEST_AHEAD = 3;

/** The engine's record of a running transfer. */
interface RunningTransfer {
  readonly transfer: RingTransfer;
  /** Slots that the copy engine works on. */
  readonly queue: CopyQueue;
  readonly stream: TransferStream;
  /** Lets the lanes for fresh memory work, when it has fresh memory. */
  readonly extra: Disposable | undefined;
}

/** Ways to hand out tasks: with and without threads that the runtime lends. */
const LENDING: Lending = { canLend: true };
const ALONE: Lending = { canLend: false };

/** The ring of one context, a cache that can be trimmed, and its part in the lanes of the host. */
export class TransferEngine implements MemoryCache {
  readonly name = "transfer ring";
  readonly kind = "pinned";
  readonly #context: Context;
  /** Limits of its size and thresholds of its ways. */
  readonly limits: EngineLimits;
  readonly #ring: PinnedRing;
  readonly #share: LaneShare<TransferEngine>;
  readonly #demand: Demand;
  /** Time at which lanes were last looked for that were asleep. */
  #lastLook = -Infinity;
  /** Slots that a lane works on. */
  readonly #withLane: LoadedSlot[] = [];
  /** Transfers whose turn it is. */
  readonly #running = new Map<RingTransfer, RunningTransfer>();
  /**
   * The same as a list: looks that find nothing follow each other within a microsecond, and what each of
   * them leaves to the garbage collector took a third of the time of a transfer.
   */
  #turns: readonly RunningTransfer[] = [];
  /** Transfers that wait for their turn. */
  readonly #waiting = new Set<RingTransfer>();
  /** Transfers whose arrays the program could move away while lanes use them. */
  readonly #unkept = new Set<RingTransfer>();
  /** Keepers of the arrays of the other transfers. */
  readonly #keepers = new Map<RingTransfer, MemoryKeeper>();
  /** Threads that kept an array and are on their way back. */
  readonly #returning = new Set<Promise<void>>();
  /** Set while there are transfers. */
  #lastTurn: Disposable | undefined;

  /** Starts with no memory and no lanes; both come with the first transfer. */
  constructor(
    context: Context,
    limits: EngineLimits = DEFAULT_LIMITS,
    { system = OWN_SYSTEM, demand = new Demand(limits.demandBytes) }: {
      readonly system?: CoreSystem;
      readonly demand?: Demand;
    } = {},
  ) {
    const { driver, deviceHandle } = context;
    const fewest = Math.min(MANY_LANES, limits.laneCount);
    const nearCores = findNearCores(() => busIdOf(driver, deviceHandle), { fewest, system });
    this.#context = context;
    this.limits = nearCores === undefined ? limits : limitsOnCores(limits, nearCores.count);
    this.#demand = demand;
    this.#share = new LaneShare(driver, this, { ...this.limits, nearCores });
    const { firstSlot: firstIndex } = this.#share;
    this.#ring = new PinnedRing(context, this.limits, { firstIndex, node: nearCores?.node });
    context.ledger.caches.add(this);
  }

  /** Bytes of page-locked memory it holds. */
  get byteLength(): number {
    return this.#ring.byteLength;
  }

  /** Frees the ring when no transfer is under way, and forgets new arrays that were made ahead. */
  trim(): void {
    this.#ring.trim();
    this.#lanes.arrays.drop();
  }

  /** New arrays of middle size that lanes make; undefined while few lanes run, which have enough to do. */
  get arrayMaker(): ArrayMaker | undefined {
    return this.#lanes.runningCount < MANY_LANES ? undefined : this.#lanes.arrays;
  }

  get #lanes(): CopyLanes {
    return this.#share.lanes;
  }

  /**
   * Chooses the way for the rest of a transfer. The ring needs page-locked memory and several lanes that
   * run; for few bytes they have to be awake. Wakes lanes that sleep, for this transfer or the next.
   */
  wayFor(byteLength: number, { canLend }: Lending): Way {
    const { runningCount } = this.#lanes;
    const { laneCount, ringFromBytes } = this.limits;
    const hasThreads = canLend && CAN_LEND && this.#lanes.hasLibrary;
    const isLent = hasThreads && (this.#ring.byteLength > 0 || this.#demand.paysForRing);
    const lentCount = isLent ? Math.min(FEWEST_LANES, laneCount) : 0;
    const hasOnlyLent = runningCount === 0 && laneCount >= MANY_LANES;
    const fromBytes = ringFromBytes ?? (hasOnlyLent ? LENT_RING_FROM_BYTES : undefined);
    const way = wayFor(byteLength, Math.max(runningCount, lentCount), fromBytes);
    if (way === "driver" || !this.#ring.prepare()) return "driver";
    if (!this.#lanes.areAsleep) return way;
    this.#lanes.rouse();
    return byteLength < WAKING_RING_BYTES ? "driver" : "ring";
  }

  /**
   * Lanes that copy together with the caller: undefined while too few are awake. A program that makes
   * one such transfer after the other finds them awake.
   */
  get awakeLanes(): CopyLanes | undefined {
    const lanes = this.#lanes;
    if (lanes.runningCount < FEWEST_LANES) return undefined;
    if (lanes.awakeCount >= FEWEST_LANES) return lanes;
    const now = performance.now();
    if (now - this.#lastLook < WAKING_MILLISECONDS) lanes.rouse();
    this.#lastLook = now;
    return undefined;
  }

  /**
   * Notes that bytes are about to move, and starts the lanes once that pays. A program that moves
   * little never pays for threads; one that awaits a model or two uses lent ones.
   */
  anticipate(byteLength: number, { canLend }: Lending): void {
    this.#demand.add(byteLength);
    if (this.limits.laneCount < FEWEST_LANES) return;
    const { active } = this.#share;
    const isShared = active.size > (active.has(this) ? 1 : 0);
    if (this.#demand.paysForLanes({ canLend: canLend && CAN_LEND, isShared })) this.startLanes();
  }

  /** Starts the lanes; until they run lent threads or the calling thread do their work. */
  startLanes(): void {
    this.#lanes.start();
  }

  /** Starts the lanes if they would pay, and waits about a second until they run. */
  async runLanes(): Promise<void> {
    if (this.limits.laneCount < FEWEST_LANES) return;
    this.startLanes();
    const end = performance.now() + LANE_START_MILLISECONDS;
    while (this.#lanes.hasLibrary && this.#lanes.runningCount < this.limits.laneCount) {
      if (performance.now() > end) return;
      await sleep(5);
    }
  }

  /** Starts a transfer; {@link TransferEngine.advance} moves it until it is over. */
  start(request: RingRequest): RingTransfer {
    const { slotBytes } = this.limits;
    const pieceBytes = request.pieceBytes ?? pieceBytesFor(request.byteLength, slotBytes);
    const transfer = new RingTransfer(request, Math.min(pieceBytes, slotBytes));
    this.#lastTurn ??= beforeLastTurn(() => this.#rest(this.#running.keys()));
    this.#share.begin();
    this.#waiting.add(transfer);
    if (request.arrays !== undefined) this.#unkept.add(transfer);
    this.#admit();
    return transfer;
  }

  /**
   * Advances all transfers, or naps; returns false when nothing could move. A caller that leaves turns
   * to the event loop advances other devices' transfers as well: they have one thread, and each of
   * them would wait while another has its time of a turn.
   */
  advance({ canLend }: Lending): boolean {
    const how = canLend && CAN_LEND ? LENDING : ALONE;
    const seen = this.#lanes.doneCount;
    const moved = this.#pump(how);
    if (canLend && this.#share.active.size > 1) {
      for (const other of this.#share.active) if (other !== this) other.#pump(how);
    }
    if (moved) return true;
    if (NAP_MILLISECONDS > 0) this.#lanes.waitSync(NAP_MILLISECONDS);
    else this.#lanes.lookForDone(seen);
    return false;
  }

  /** Number of lent threads that have not come back. */
  get lentCount(): number {
    return this.#share.lentCount;
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
    for (const transfer of this.#running.keys()) transfer.noteProgram();
    if (this.#unkept.size === 0) return;
    if (this.#keep([...this.#unkept])) return;
    // There may be too few threads for all; lanes use only the arrays of transfers that have their turn.
    const unkept = [...this.#running.keys()].filter((transfer) => this.#unkept.has(transfer));
    if (unkept.length > 0 && !this.#keep(unkept)) this.#rest(unkept);
  }

  /** Keeps the arrays of transfers until all of these are over; returns false when it cannot. */
  #keep(transfers: readonly RingTransfer[]): boolean {
    if (CAN_BE_TERMINATED) return false;
    const arrays = transfers.flatMap(({ request }) => request.arrays ?? []);
    const keeper = keepMemory(arrays, transfers.length);
    if (keeper === undefined) return false;
    for (const transfer of transfers) {
      this.#unkept.delete(transfer);
      this.#keepers.set(transfer, keeper);
    }
    return true;
  }

  /** Returns whether a transfer has its turn; the others wait. */
  isRunning(transfer: RingTransfer): boolean {
    return this.#running.has(transfer);
  }

  /** Ends a transfer early; pieces in flight are still completed. */
  fail(transfer: RingTransfer, error: unknown): void {
    transfer.fail(error);
    if (this.#waiting.delete(transfer)) {
      this.#letGo(transfer);
      this.#noteRest();
    }
    const running = this.#running.get(transfer);
    if (running !== undefined && transfer.isOver) this.#end(transfer, running);
  }

  /** Ends a transfer that is over, and lets one that waits have its turn. */
  #end(transfer: RingTransfer, { stream, extra }: RunningTransfer): void {
    this.#running.delete(transfer);
    this.#turns = [...this.#running.values()];
    extra?.[Symbol.dispose]();
    this.#letGo(transfer);
    TransferStreams.of(this.#context).put(stream);
    this.#admit();
    this.#noteRest();
  }

  /** Notes that nothing uses the arrays of a transfer any more. */
  #letGo(transfer: RingTransfer): void {
    this.#unkept.delete(transfer);
    const returned = this.#keepers.get(transfer)?.letGo();
    this.#keepers.delete(transfer);
    if (returned === undefined) return;
    this.#returning.add(returned);
    returned.then(() => this.#returning.delete(returned));
  }

  /** Notes when there are no transfers any more. */
  #noteRest(): void {
    if (this.#running.size + this.#waiting.size > 0) return;
    this.#share.end();
    this.#lastTurn?.[Symbol.dispose]();
    this.#lastTurn = undefined;
  }

  /**
   * Resolves when lent threads are back, some microseconds after their work is done: a program or a
   * test may check that nothing is under way.
   */
  async atRest(): Promise<void> {
    if (this.#returning.size > 0) await Promise.all(this.#returning);
    while (this.lentCount > 0 && this.#running.size === 0) await nextTurn();
  }

  /** Ends the lanes and frees the ring. */
  dispose(): void {
    releaseAll(this.#context.driver, "threads and memory for transfers", [
      () => this.#share.release(),
      () => this.trim(),
      () => this.#context.ledger.caches.delete(this),
    ]);
  }

  /** Gives waiting transfers their turn, as many as may run at a time. */
  #admit(): void {
    for (const transfer of this.#waiting) {
      if (this.#running.size >= MOST_AT_ONCE) return;
      this.#waiting.delete(transfer);
      try {
        const stream = TransferStreams.of(this.#context).take();
        transfer.stream = stream;
        this.#running.set(transfer, {
          transfer,
          queue: new CopyQueue(transfer, this.limits.slotCount),
          stream,
          extra: transfer.request.isFresh === true ? this.#lanes.callExtra() : undefined,
        });
        this.#turns = [...this.#running.values()];
        transfer.request.follow?.(stream);
      } catch (error) {
        transfer.fail(error);
        this.#letGo(transfer);
        this.#noteRest();
      }
    }
  }

  /** Waits until no thread uses the arrays of some transfers. */
  #rest(transfers: Iterable<RingTransfer>): void {
    const resting = new Set(transfers);
    const isAtWork = ({ slot, transfer }: LoadedSlot) =>
      resting.has(transfer) && !this.#lanes.needsTurn(slot.index);
    while (this.#withLane.some(isAtWork)) {
      this.#lanes.help(ALONE);
      this.#afterLanes();
    }
  }

  /** Advances every slot that can move; returns false when none could. */
  #pump(how: Lending): boolean {
    let moved = this.#afterLanes();
    moved = this.#load() || moved;
    const turns = this.#turns;
    for (let turn = 0; turn < turns.length; turn++) {
      const { queue } = turns[turn] as RunningTransfer;
      moved = this.#afterCopies(queue.flush()) || moved;
      moved = this.#afterCopies(queue.poll(this.#ring.isExhausted)) || moved;
    }
    for (let turn = 0; turn < turns.length; turn++) {
      const running = turns[turn] as RunningTransfer;
      if (!running.transfer.isOver) continue;
      this.#end(running.transfer, running);
      moved = true;
    }
    if (how.canLend) moved = this.#lanes.lend() || moved;
    else moved = this.#takeBack() || moved;
    return moved || this.#lanes.help(how);
  }

  /**
   * Repeats the work of lent threads that report only in a turn of the event loop, which a blocking
   * caller does not give. Both write the same bytes, and the slots stay reserved until the threads
   * are back.
   */
  #takeBack(): boolean {
    let moved = false;
    const stuck = this.#withLane.filter(({ slot }) => this.#lanes.needsTurn(slot.index));
    for (const loaded of stuck) {
      const { slot, transfer, piece } = loaded;
      if (transfer.request.direction === "download") {
        this.#leaveWithThread(loaded);
        if (this.#lanes.repeat(slot.index)) transfer.finish(piece);
        else transfer.drop(piece.laneError());
      } else {
        const other = this.#takeSlot(transfer);
        if (other === undefined) continue;
        this.#leaveWithThread(loaded);
        this.#giveToLane({ ...loaded, slot: other });
      }
      moved = true;
    }
    return moved;
  }

  #leaveWithThread(loaded: LoadedSlot): void {
    const { slot, transfer } = loaded;
    this.#withLane.splice(this.#withLane.indexOf(loaded), 1);
    const letGo = transfer.request.keepOpen?.();
    this.#lanes.leave(slot.index, () => {
      this.#lanes.forget(slot.index);
      this.#ring.put(slot);
      letGo?.();
    });
  }

  /** Hands free slots to the transfers that wait, in turn. */
  #load(): boolean {
    let moved = false;
    for (let waiting = true; waiting;) {
      waiting = false;
      for (let turn = 0; turn < this.#turns.length; turn++) {
        const { transfer, queue } = this.#turns[turn] as RunningTransfer;
        if (!transfer.isWaiting) continue;
        const isEnough = transfer.request.direction === "upload"
          ? this.#hasEnoughForLanes
          : this.#hasEnoughOnTheWay;
        if (isEnough) continue;
        const slot = this.#takeSlot(transfer);
        if (slot === undefined) return moved;
        const piece = transfer.next();
        if (piece === undefined) {
          this.#ring.put(slot);
          continue;
        }
        const loaded = { slot, transfer, piece };
        if (transfer.request.direction === "upload") this.#giveToLane(loaded);
        else queue.push(loaded);
        waiting = true;
        moved = true;
      }
    }
    return moved;
  }

  /** More slots than lanes can take soon would only evict each other from the caches. */
  get #hasEnoughForLanes(): boolean {
    return this.#withLane.length >= 2 * Math.max(1, this.#share.handCount);
  }

  /**
   * Bytes that have come from the device wait for a lane in the processor's caches, as long as they are
   * few: two devices brought 68 GB/s with rings of 16 slots, 63 with 32 and 48 with 64.
   */
  get #hasEnoughOnTheWay(): boolean {
    let withLaneCount = 0;
    for (let at = 0; at < this.#withLane.length; at++) {
      const { transfer } = this.#withLane[at] as LoadedSlot;
      if (transfer.request.direction === "download") withLaneCount++;
    }
    let count = Math.max(0, withLaneCount - this.#share.handCount);
    for (let turn = 0; turn < this.#turns.length; turn++) {
      const { transfer, queue } = this.#turns[turn] as RunningTransfer;
      if (transfer.request.direction === "download") count += queue.slotCount;
    }
    return count >= Math.max(FEWEST_AHEAD, this.#share.partOf(SLOTS_AHEAD));
  }

  #takeSlot(transfer: RingTransfer): Slot | undefined {
    try {
      return this.#ring.take(transfer.request.direction);
    } catch (error) {
      transfer.fail(error);
      return undefined;
    }
  }

  #giveToLane(loaded: LoadedSlot): void {
    const { slot, piece } = loaded;
    this.#lanes.submit(slot.index, piece.laneTask(slot.address));
    this.#withLane.push(loaded);
  }

  /** Passes on the slots that lanes are done with; returns false when there are none. */
  #afterLanes(): boolean {
    const slots = this.#withLane;
    let keptCount = 0;
    for (let at = 0; at < slots.length; at++) {
      const loaded = slots[at] as LoadedSlot;
      const status = this.#lanes.status(loaded.slot.index);
      if (status === "pending") slots[keptCount++] = loaded;
      else this.#afterLane(loaded, status);
    }
    const moved = keptCount < slots.length;
    slots.length = keptCount;
    return moved;
  }

  #afterLane(loaded: LoadedSlot, status: "done" | "failed"): void {
    const { transfer } = loaded;
    const queue = this.#running.get(transfer)?.queue;
    const isUpload = transfer.request.direction === "upload";
    if (status === "failed") {
      if (isUpload) transfer.noteQueued();
      this.#retire(loaded, { error: loaded.piece.laneError() });
    } else if (isUpload && queue !== undefined) {
      queue.push(loaded);
    } else {
      this.#retire(loaded);
    }
  }

  /**
   * Passes on the slots that the copy engine is done with, or never got; returns false for
   * undefined.
   */
  #afterCopies(finished: FinishedCopies | undefined): boolean {
    if (finished === undefined) return false;
    const { done, error } = finished;
    for (const loaded of done) {
      if (error !== undefined) this.#retire(loaded, { error });
      else if (loaded.transfer.request.direction === "upload") this.#retire(loaded);
      else this.#giveToLane(loaded);
    }
    return true;
  }

  /** Frees a slot, and tells its transfer how the piece ended. */
  #retire({ slot, transfer, piece }: LoadedSlot, failure?: { error: unknown }): void {
    this.#lanes.forget(slot.index);
    this.#ring.put(slot);
    if (failure === undefined) transfer.finish(piece);
    else transfer.drop(failure.error);
  }
}
