// A transfer that is not over when its call returns: it waits for what comes before it, moves its bytes
// between turns of the event loop, or at one go when a later call blocks for it, and is awaited or not.

import { type HostCheck, watchHost } from "../../ffi/host_watch.ts";
import { Fence } from "../fence.ts";
import { requireUnrecorded } from "../memory/captured_memory.ts";
import { keepFor, type MemoryUse, pendingBefore } from "../memory/in_order.ts";
import { PendingWork, type Progress } from "../pending_work.ts";
import type { Step } from "./stepped_work.ts";
import type { CudaStream } from "../stream.ts";
import { CAN_BE_TERMINATED, nextTurn, waitForGpu } from "../waiting.ts";
import { arraysBefore, type ArrayUse, noteArrayUses } from "./array_uses.ts";
import type { Lending } from "./copy_lanes.ts";
import { TransferEngine } from "./engine.ts";

/**
 * Time for which a transfer keeps the thread: a turn by itself costs 6 microseconds. In a worker
 * the lanes come to rest before each turn, which costs a few percent.
 */
const TURN_MILLISECONDS = CAN_BE_TERMINATED ? 10 : 0.1;

/** Time for which brief transfers in a row may keep the event loop from its next turn. */
const MOST_TURN_MILLISECONDS = 4;

/** Options of transfers. */
export interface TransferOptions {
  /** Called as bytes arrive; large transfers call it for every few MiB, small ones once. */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
  /** Ends the transfer early; it rejects once nothing is in flight any more. */
  readonly signal?: AbortSignal | undefined;
}

/** Moves the bytes of a transfer, a little at each step. */
export interface Mover {
  /** Bytes that are where they belong. */
  readonly doneBytes: number;
  /** Whether all pieces were moved and none is in flight. */
  readonly isOver: boolean;
  /** The work of the GPU that must be done before the next step; undefined when there is none. */
  readonly waitsFor: Fence | undefined;
  /** Whether only a turn of the event loop can tell more, when nothing can move. */
  readonly needsTurn: boolean;
  /** Goes on; false when nothing can move right now. */
  step(how: Lending): boolean;
  /** Makes sure that the program may run, which can move arrays away. */
  beforeProgram(): void;
  /** Ends it early; further steps complete the pieces in flight. */
  fail(error: unknown): void;
  /** Lets go of everything when it is over; throws what it failed with. */
  end(): void;
  /** Resolves when the threads that it used are back; they are done before. */
  atRest(): Promise<void>;
}

/** Moves all that is left, blocking, and throws what it failed with. */
export function finishMover(mover: Mover): void {
  while (!mover.isOver) mover.step({ canLend: false });
  mover.beforeProgram(); // others may be under way
  mover.end();
}

/** One turn of the event loop, which all transfers share. */
class Turn {
  static #current: Turn | undefined;
  /** Time at which the first transfer moved in this turn. */
  readonly startedAt: number = performance.now();
  /**
   * Time at which the event loop must have the next turn, however fast transfers follow each other.
   */
  readonly mustEndAt: number = this.startedAt + MOST_TURN_MILLISECONDS;
  /** Resolves in the next turn. */
  readonly over: Promise<void> = nextTurn().then(() => Turn.#current = undefined);

  /** The turn that it is. */
  static current(): Turn {
    return Turn.#current ??= new Turn();
  }
}

/** A transfer to be made. */
export interface TransferPlan extends TransferOptions {
  /** In whose order it comes. */
  readonly stream: CudaStream;
  /** Uses of the GPU's memory. */
  readonly uses: readonly MemoryUse[];
  /** Uses of arrays. */
  readonly arrays: readonly ArrayUse[];
  /** Number of bytes that it moves. */
  readonly byteLength: number;
  /** Words for a message: the action that cannot be recorded. */
  readonly action: string;
  /** Whether work that is under way has its place in the order, and keeps the memory. */
  readonly isPlaced?: boolean | undefined;
  /** Starts to move them, when its turn has come, behind the GPU's work before `entry`. */
  start(entry: Fence | undefined): Mover;
  /** Does what is left to do when the bytes are there, before anything that comes after. */
  complete?(): void;
}

/** A transfer under way. */
export class PendingTransfer extends PendingWork {
  /** Resolves when the bytes are there; rejects with what went wrong. */
  readonly promise: Promise<void>;
  readonly #plan: TransferPlan;
  readonly #settle: Pick<PromiseWithResolvers<void>, "resolve" | "reject">;
  /** Checks of a driver on the arrays that are read. */
  #checks: HostCheck[] = [];
  #entry: Fence | undefined;
  #mover: Mover | undefined;
  #reportedBytes = 0;
  #isReporting = false;
  #hasFailed = false;
  #failure: { readonly error: unknown } | undefined;

  /**
   * Orders a transfer after what was called before, and starts it when its turn has come.
   *
   * @throws TypeError when it would be recorded, or may not write.
   */
  constructor(plan: TransferPlan) {
    super();
    const { stream, uses, arrays, signal, action, isPlaced = false } = plan;
    for (const { allocation, access } of uses) {
      requireUnrecorded(allocation, stream, action);
      allocation.checkUse(access);
    }
    this.#plan = plan;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.promise = promise;
    this.#settle = { resolve, reject };
    this.#watchSignal(signal);
    const earlier = isPlaced ? [] : [...pendingBefore(stream, uses), ...arraysBefore(arrays)];
    if (!isPlaced) {
      stream.notePending(this);
      noteArrayUses(this, arrays);
      keepFor(this, stream, uses);
    }
    if (earlier.length === 0) this.#watchArrays(); // else an earlier transfer may fill them
    this.beginAfter(earlier);
  }

  /** The transfer as a step of other work. */
  asStep(): Step {
    return {
      promise: this.promise,
      finishNow: () => {
        if (!this.isOver) return "needs a turn";
        if (this.#failure !== undefined) throw this.#failure.error;
        return "over";
      },
    };
  }

  /** Goes on without the event loop. */
  override advance(): Progress {
    if (this.#mover === undefined) return "waits";
    return this.#step({ canLend: false }) ? "moved" : "waits";
  }

  /** Makes sure that the program may run, which can move arrays away. */
  override beforeProgram(): void {
    this.#mover?.beforeProgram();
  }

  /** Orders its stream after what others do with the memory, and starts to move bytes. */
  protected override begin(): void {
    const { stream, uses, signal } = this.#plan;
    try {
      signal?.throwIfAborted();
      if (uses.some(({ access }) => access === "read")) stream.throwFailure();
      if (this.#checks.length === 0) this.#watchArrays();
      for (const { allocation, access } of uses) allocation.order(stream, access);
      if (!stream.isKnownIdle && !stream.isQueueIdle) {
        this.#entry = new Fence(stream.context);
        this.#entry.set(stream.queueHandle);
      }
      this.#mover = this.#plan.start(this.#entry);
    } catch (error) {
      this.#entry?.dispose();
      this.#settle.reject(error);
      return this.finish();
    }
    this.#goOn(this.#mover);
  }

  #watchArrays(): void {
    const { stream, arrays } = this.#plan;
    for (const { memory, access } of arrays) {
      if (access === "write") continue;
      const check = watchHost(stream.context.driver.api, memory);
      if (check !== undefined) this.#checks.push(check);
    }
  }

  /**
   * Moves the bytes between turns of the event loop; a call that blocks may do it first. Transfers that
   * are called in one breath start together.
   */
  async #goOn(mover: Mover): Promise<void> {
    const context = this.#plan.stream.context.retain();
    const { firstTurnMilliseconds } = TransferEngine.limitsOf(context);
    await undefined;
    this.#step({ canLend: true });
    await undefined;
    let turn = Turn.current();
    this.#stepUntil(Math.min(performance.now() + firstTurnMilliseconds, turn.mustEndAt));
    while (!this.isOver) {
      mover.beforeProgram();
      const fence = mover.waitsFor;
      if (fence === undefined) await turn.over;
      else await this.#waitFor(fence, mover);
      turn = Turn.current();
      this.#stepUntil(turn.startedAt + TURN_MILLISECONDS);
    }
    mover.beforeProgram();
    if (performance.now() > turn.mustEndAt) await turn.over; // who awaits in a loop leaves others theirs
    this.#entry?.dispose();
    await mover.atRest();
    context.release();
    if (this.#failure === undefined) this.#settle.resolve();
    else this.#settle.reject(this.#failure.error);
  }

  #stepUntil(end: number): void {
    do {
      if (!this.#step({ canLend: true }) && this.#mover?.needsTurn === true) return;
    } while (!this.isOver && performance.now() < end);
  }

  async #waitFor(fence: Fence, mover: Mover): Promise<void> {
    try {
      await waitForGpu(() => this.isOver || fence.isPassed, () => fence.waitElsewhere());
    } catch (error) {
      this.#fail(mover, error);
    }
  }

  /** Moves what can be moved; false when nothing could. */
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

  /** Tells the listener how far it is; the listener may call anything, also what blocks for this. */
  #report(mover: Mover): void {
    const { onProgress, byteLength } = this.#plan;
    if (onProgress === undefined || this.#isReporting || this.#hasFailed) return;
    this.#isReporting = true;
    try {
      while (mover.doneBytes !== this.#reportedBytes) {
        this.#reportedBytes = mover.doneBytes;
        mover.beforeProgram();
        onProgress(this.#reportedBytes, byteLength);
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
      return this.#over({ error });
    }
    this.#over();
  }

  #over(failure?: { readonly error: unknown }): void {
    this.#failure = failure;
    this.finish();
  }

  /** A transfer that waits rejects at once; its place in the order stays until it would have begun. */
  #watchSignal(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const onAbort = () => {
      if (this.hasBegun) this.#step({ canLend: true });
      if (!this.hasBegun || this.#failure !== undefined) this.#settle.reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort);
    this.whenOver(() => signal.removeEventListener("abort", onAbort));
  }
}
