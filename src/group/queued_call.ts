// A call of a group that is made once all earlier work is over. It is over itself once NCCL has queued
// it: until then nothing else may use its streams.

import { PendingWork, type Progress } from "../order/pending_work.ts";
import { nextTurn } from "../order/waiting.ts";
import { sleep } from "../words/timer.ts";

/** Turns of the event loop before looks at NCCL are a millisecond apart. */
const BUSY_TURNS = 50;

/** A call that NCCL is still queueing. */
export interface CallInProgress {
  /** Returns whether the call is queued, or has failed and the group with it. Never throws. */
  isOver(): boolean;
}

/** A call of a group with its place in the order of calls. */
export class QueuedCall extends PendingWork {
  readonly #call: () => CallInProgress | undefined;
  #progress: CallInProgress | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(call: () => CallInProgress | undefined, earlier: Iterable<PendingWork>) {
    super();
    this.#call = call;
    this.beginAfter(earlier);
  }

  /** Throws the error that the call has thrown. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  override advance(): Progress {
    if (this.isOver || this.#progress?.isOver() !== false) {
      this.finish();
      return "moved";
    }
    return "waits";
  }

  protected override begin(): void {
    try {
      this.#progress = this.#call();
    } catch (error) {
      this.#failure = { error };
    }
    if (this.advance() === "waits") void this.#watch();
  }

  async #watch(): Promise<void> {
    for (let turn = 0; this.advance() === "waits"; turn++) await pause(turn);
  }
}

/** Waits for the next look at NCCL: soon at first, then a millisecond. */
export async function pause(turn: number): Promise<void> {
  if (turn < BUSY_TURNS) await nextTurn();
  else await sleep(1);
}
