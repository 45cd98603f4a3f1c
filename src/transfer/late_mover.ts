// A move that begins behind the GPU's work: the host reads memory that the GPU may still write.

import type { Lending } from "../lanes/copy_lanes.ts";
import type { Fence } from "../order/fence.ts";
import type { Mover } from "./pending_transfer.ts";

/** A move whose host memory is read once the GPU has passed a fence. */
export class LateMover implements Mover {
  readonly #entry: Fence;
  readonly #start: () => Mover;
  #mover: Mover | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** Notes what to start when the GPU has passed `entry`. */
  constructor(entry: Fence, start: () => Mover) {
    this.#entry = entry;
    this.#start = start;
  }

  /** Bytes that have arrived. */
  get doneBytes(): number {
    return this.#mover?.doneBytes ?? 0;
  }

  /** Whether all pieces were moved and none is in flight. */
  get isOver(): boolean {
    return this.#mover?.isOver ?? this.#failure !== undefined;
  }

  /** The fence, until it is passed. */
  get waitsFor(): Fence | undefined {
    if (this.#mover !== undefined) return this.#mover.waitsFor;
    return this.#entry.isPassed ? undefined : this.#entry;
  }

  /** The GPU is waited for between turns. */
  get needsTurn(): boolean {
    return this.#mover?.needsTurn ?? true;
  }

  /** Does nothing: it joins the others when the GPU has passed the fence. */
  join(): void {}

  /** Starts it when its time has come, and moves a part. */
  step(how: Lending): boolean {
    if (this.#mover !== undefined) return this.#mover.step(how);
    if (this.isOver || !this.#entry.isSurelyPassed) return false;
    try {
      this.#mover = this.#start();
    } catch (error) {
      this.fail(error);
    }
    return true;
  }

  /** Keeps the array, or lets the threads that use it come to rest. */
  beforeProgram(): void {
    this.#mover?.beforeProgram();
  }

  /** Ends the move early. */
  fail(error: unknown): void {
    if (this.#mover !== undefined) this.#mover.fail(error);
    else this.#failure ??= { error };
  }

  /** Throws the error of a failed move. */
  end(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#mover?.end();
  }

  /** Resolves when the threads that it used are back. */
  async atRest(): Promise<void> {
    await this.#mover?.atRest();
  }
}
