// A transfer that is not over when its call returns: it waits for earlier work, then moves its
// bytes between turns of the event loop, or at once when a later call blocks for it.

import { type HostCheck, ownParts } from "../../ffi/own_parts.ts";
import type { Context } from "../driver/context.ts";
import { requireUnrecorded } from "../memory/captured_memory.ts";
import { ownedParts } from "../memory/host_bytes.ts";
import { holdFor, keepFor, type MemoryUse, pendingBefore } from "../memory/in_order.ts";
import { Fence } from "../order/fence.ts";
import { PendingWork, type Progress } from "../order/pending_work.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import { CAN_BE_TERMINATED, nextTurn, waitForGpu } from "../order/waiting.ts";
import { reportProgress } from "../words/progress.ts";
import { arraysBefore, type ArrayUse, noteArrayUses } from "./array_uses.ts";
import { engineFor, engineLimits } from "./context_engine.ts";
import { type Lending, Mover, type MoveStep } from "./mover.ts";
import type { Step } from "./stepped_work.ts";
import { TURN_MILLISECONDS, WORKER_TURN_MILLISECONDS } from "./ways.ts";

/** A step that leaves turns to the event loop. */
const BETWEEN_TURNS: Lending = { canLend: true };

/** Options of a transfer: a progress callback, and a signal that ends it early. */
export interface TransferOptions {
  /**
   * Called as bytes arrive: every few MiB for large transfers, once for small ones. The transfer ends
   * with what it throws; a promise that it returns is not waited for, and its failure is a warning.
   */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
  /** Ends the transfer early; its promise rejects once nothing is in flight any more. */
  readonly signal?: AbortSignal | undefined;
}

/** One turn of the event loop, which all transfers share. */
class Turn {
  static #current: Turn | undefined;
  /** Time at which the first transfer moved in this turn. */
  readonly startedAt: number = performance.now();
  /** Resolves in the next turn. */
  readonly over: Promise<void> = nextTurn().then(() => Turn.#current = undefined);

  /** Returns the current turn. */
  static current(): Turn {
    return Turn.#current ??= new Turn();
  }
}

/** A transfer to be made. */
export interface TransferPlan extends TransferOptions {
  /** Stream in whose order it comes. */
  readonly stream: CudaStream;
  /** Uses of the GPU's memory. */
  readonly uses: readonly MemoryUse[];
  /** Uses of arrays. */
  readonly arrays: readonly ArrayUse[];
  /** Number of bytes that it moves. */
  readonly byteLength: number;
  /** Words for a message: the action that cannot be recorded. */
  readonly action: string;
  /** It is a part of work that has its place in the order and keeps the memory. */
  readonly isPlaced?: boolean | undefined;
  /**
   * Transfers of the same call, which move other bytes of the same arrays: it neither comes after them
   * nor before them, and joins them.
   */
  readonly besides?: Set<PendingWork> | undefined;
  /** Moves to make, one after another, when its turn has come. */
  steps(): Iterable<MoveStep>;
  /** Finishes the transfer when the bytes have arrived, before any later work. */
  complete?(): void;
}

/** Transfers whose promises are not settled: that takes a turn or two after they are over. */
const unsettled = new Set<PendingTransfer>();

/** Resolves when the promises of a context's transfers that are over are settled. */
export async function transfersSettled(context: Context): Promise<void> {
  while ([...unsettled].some((transfer) => transfer.isOver && transfer.isOf(context))) {
    await nextTurn();
  }
}

/** A transfer under way. */
export class PendingTransfer extends PendingWork implements Step {
  readonly #arrival = Promise.withResolvers<void>();
  /** Resolves when the bytes have arrived; rejects with the transfer's error. */
  readonly promise: Promise<void> = this.#arrival.promise;
  readonly #plan: TransferPlan;
  /** Checks of a driver on the arrays that are read. */
  #checks: HostCheck[] = [];
  #entry: Fence | undefined;
  #mover: Mover | undefined;
  #reportedBytes = 0;
  #isReporting = false;
  /** A thread of the runtime's waits for the GPU's work before it. */
  #isBehindWork = false;
  #hasFailed = false;
  #failure: { readonly error: unknown } | undefined;

  /**
   * Orders a transfer after earlier calls, and starts it when its turn has come.
   *
   * @throws TypeError when its stream is being captured, or it must not write the memory.
   */
  constructor(plan: TransferPlan) {
    super();
    const { stream, uses, arrays, signal, action, isPlaced = false, besides } = plan;
    for (const { allocation, access } of uses) {
      requireUnrecorded(allocation, stream, action);
      allocation.checkUse(access);
    }
    this.#plan = plan;
    this.#watchSignal(signal);
    const before = isPlaced ? [] : [...pendingBefore(stream, uses), ...arraysBefore(arrays)];
    const earlier = besides === undefined ? before : before.filter((work) => !besides.has(work));
    besides?.add(this);
    if (isPlaced) holdFor(this, uses);
    else {
      queueOf(stream).notePending(this);
      noteArrayUses(this, arrays);
      keepFor(this, stream, uses, { isAfterAll: besides === undefined });
    }
    if (earlier.length === 0) this.#watchArrays(); // else an earlier transfer may fill them
    unsettled.add(this);
    this.beginAfter(earlier);
  }

  /** Returns whether it moves memory of a context. */
  isOf(context: Context): boolean {
    return this.#plan.stream.context === context;
  }

  /** Ends it as a step of other work; {@link PendingTransfer.advance} moves its bytes. */
  finishNow(): boolean {
    if (this.isOver && this.#failure !== undefined) throw this.#failure.error;
    return this.isOver;
  }

  /** Advances without the event loop. */
  override advance(): Progress {
    if (this.#mover === undefined) return "waits";
    return this.#step({ canLend: false }) ? "moved" : "waits";
  }

  /** Prepares for the program to run, which can transfer arrays away. */
  override beforeProgram(): void {
    this.#mover?.beforeProgram();
  }

  /** Orders its stream after other work on the memory, and starts to move bytes. */
  protected override begin(): void {
    const { stream, uses, signal } = this.#plan;
    try {
      signal?.throwIfAborted();
      if (this.#checks.length === 0) this.#watchArrays();
      for (const { allocation, access } of uses) allocation.order(stream, access);
      if (uses.some(({ access }) => access === "read")) queueOf(stream).throwFailure();
      if (!queueOf(stream).isKnownIdle && !queueOf(stream).isIdle) {
        this.#entry = new Fence(stream.context);
        this.#entry.set(queueOf(stream).handle);
      }
      this.#mover = new Mover(stream.context, this.#plan.steps(), this.#entry);
    } catch (error) {
      this.#entry?.dispose();
      this.#arrival.reject(error);
      unsettled.delete(this);
      return this.finish();
    }
    this.#goOn(this.#mover);
  }

  #watchArrays(): void {
    const { stream, arrays } = this.#plan;
    for (const { memory, access } of arrays) {
      if (access === "write" || ownedParts(memory).length > 0) continue; // the GPU may write it
      const check = ownParts(stream.context.driver.api).watchHost?.(memory);
      if (check !== undefined) this.#checks.push(check);
    }
  }

  /**
   * Moves the bytes between turns of the event loop; a call that blocks may do it first. Transfers
   * called in one turn start together.
   */
  async #goOn(mover: Mover): Promise<void> {
    const context = this.#plan.stream.context.retain();
    const { firstTurnMilliseconds } = engineLimits(context);
    await undefined;
    if (!this.isOver) this.#ask(mover, () => mover.join(BETWEEN_TURNS));
    await undefined; // the program may run: no thread uses its arrays yet
    let turn = Turn.current();
    this.#stepUntil(mover, turn.startedAt + firstTurnMilliseconds);
    while (!this.isOver) {
      mover.beforeProgram();
      const fence = this.#ask(mover, () => mover.waitsFor);
      if (fence === undefined) await turn.over;
      else await this.#waitFor(fence, mover);
      if (this.isOver) break; // a call that blocks moved the rest, or it was aborted
      turn = Turn.current();
      const turnMilliseconds = CAN_BE_TERMINATED ? WORKER_TURN_MILLISECONDS : TURN_MILLISECONDS;
      this.#stepUntil(mover, turn.startedAt + turnMilliseconds);
    }
    mover.beforeProgram();
    await turn.over; // who awaits in a loop leaves others theirs
    this.#entry?.dispose();
    await engineFor(context)?.atRest();
    context.endWait();
    await context.returning;
    context.release();
    if (this.#failure === undefined) this.#arrival.resolve();
    else this.#arrival.reject(this.#failure.error);
    unsettled.delete(this);
  }

  /** Asks or tells the mover something that meets the driver; the transfer ends with what that throws. */
  #ask<T>(mover: Mover, question: () => T): T | undefined {
    try {
      return question();
    } catch (error) {
      this.#fail(mover, error);
      return undefined;
    }
  }

  #stepUntil(mover: Mover, end: number): void {
    const needsTurn = () => mover.needsTurn; // once: garbage of each look costs more than the look
    do {
      if (!this.#step(BETWEEN_TURNS) && this.#ask(mover, needsTurn) === true) return;
    } while (!this.isOver && performance.now() < end);
  }

  async #waitFor(fence: Fence, mover: Mover): Promise<void> {
    try {
      await waitForGpu(() => this.isOver || fence.isPassed, () => {
        this.#isBehindWork = true;
        return fence.waitElsewhere();
      });
    } catch (error) {
      this.#fail(mover, error);
    }
    this.#isBehindWork = false;
  }

  /** Moves what can be moved; returns false when nothing could. */
  #step(how: Lending): boolean {
    const mover = this.#mover;
    if (mover === undefined || this.isOver) return false;
    const { signal } = this.#plan;
    if (signal?.aborted && !mover.isOver) this.#fail(mover, signal.reason);
    let moved = false;
    try {
      moved = mover.step(how);
      this.#report(mover);
    } catch (error) {
      this.#fail(mover, error);
    }
    if (mover.isOver && !this.isOver) this.#end(mover);
    return moved || this.isOver;
  }

  /**
   * Reports the progress; the listener may call anything, even a call that blocks for this
   * transfer.
   */
  #report(mover: Mover): void {
    const { onProgress, byteLength } = this.#plan;
    if (onProgress === undefined || this.#isReporting || this.#hasFailed) return;
    this.#isReporting = true;
    try {
      while (mover.doneBytes !== this.#reportedBytes) {
        this.#reportedBytes = mover.doneBytes;
        mover.beforeProgram();
        reportProgress(onProgress, this.#reportedBytes, byteLength);
      }
    } finally {
      this.#isReporting = false;
    }
  }

  #fail(mover: Mover, error: unknown): void {
    this.#hasFailed = true;
    mover.fail(error);
  }

  #end(mover: Mover): void {
    try {
      mover.end();
      for (const check of this.#checks) check();
      this.#plan.complete?.();
    } catch (error) {
      this.#failure = { error };
    }
    this.finish();
  }

  /**
   * Rejects a waiting transfer at once; its place in the order stays until it would have begun. One
   * that moves bytes is rejected in its next turn.
   */
  #watchSignal(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const onAbort = () => {
      if (this.hasBegun) this.#step(BETWEEN_TURNS);
      this.beforeProgram();
      const waits = !this.hasBegun || (this.#isBehindWork && this.#failure !== undefined);
      if (waits) this.#arrival.reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort);
    this.whenOver(() => signal.removeEventListener("abort", onAbort));
  }
}
