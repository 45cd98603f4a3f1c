// Notes in the page of persisted memory that a write is coming, before it is queued, and that all writes
// are done, once the GPU says so.

import type { Context } from "../driver/context.ts";
import type { Access, StreamUsage, UseGate } from "../memory/stream_usage.ts";
import { activeCapture } from "../order/capture.ts";
import { type CudaStream, isForeignStream, queueOf } from "../order/stream.ts";
import { TIMERS } from "../words/timer.ts";
import type { StatePage } from "./state_page.ts";

/** Time between two looks for the end of writes, if no synchronisation comes first. */
const LOOK_MILLISECONDS = 20;

/** Watches the writes to the blocks of one persisted object. */
export class WriteWatch implements UseGate {
  readonly #page: StatePage;
  readonly #context: Context;
  readonly #usages: readonly StreamUsage[];
  #isOver = false;
  #timer: number | undefined;

  constructor(context: Context, page: StatePage, usages: readonly StreamUsage[]) {
    this.#context = context;
    this.#page = page;
    this.#usages = usages;
    for (const usage of usages) usage.gate = this;
  }

  isOpen(access: Access): boolean {
    return access === "read" || this.#page.own !== "clean";
  }

  pass(stream: CudaStream, access: Access): void {
    if (access === "read" || this.#page.own !== "clean" || this.#isOver) return;
    if (isForeignStream(stream)) return this.handOut(); // another library may write there, too
    this.#page.own = "dirty";
    this.#context.defer({
      isDue: () => this.#isOver || this.#isDone(),
      wait: () => this.#context.waitForAll(),
      run: () => this.#end(),
    });
    this.#lookAgain();
  }

  handOut(): void {
    if (this.#isOver) return;
    this.#end();
    this.#page.own = "unknown";
  }

  /** Ends the watch, once the GPU has passed all uses. */
  end(): void {
    this.#end();
    this.#isOver = true;
  }

  /** Programs that wait for their own results seldom synchronise; most deaths come while all is idle. */
  #lookAgain(): void {
    const look = () => {
      this.#timer = undefined;
      if (this.#isOver || this.#page.own !== "dirty") return;
      if (this.#isDone()) this.#end();
      else this.#lookAgain();
    };
    if (this.#timer !== undefined) return;
    this.#timer = Number(TIMERS.setTimeout(look, LOOK_MILLISECONDS));
    Deno.unrefTimer(this.#timer);
  }

  #end(): void {
    TIMERS.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isOver && this.#page.own === "dirty") this.#page.own = "clean";
  }

  /** Returns whether all streams that used the memory are idle, and no transfer of it is under way. */
  #isDone(): boolean {
    if (this.#usages.some(({ hasPending }) => hasPending)) return false;
    try {
      if (activeCapture !== undefined) return false;
      const streams = new Set(this.#usages.flatMap((usage) => usage.streams()));
      return [...streams].every((stream) => queueOf(stream).isIdle);
    } catch {
      return false; // the context is broken
    }
  }
}
