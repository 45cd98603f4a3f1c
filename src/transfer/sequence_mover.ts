// Moves several things one after another, as one transfer.

import type { Lending } from "../lanes/copy_lanes.ts";
import type { Fence } from "../order/fence.ts";
import type { Mover } from "./pending_transfer.ts";

/** One part of a sequence. */
export interface SequencePart {
  /** Starts to move it, when those before are done. */
  start(): Mover;
  /** Finishes the part once its bytes are there. */
  complete?(): void;
}

/** Several moves in a row; the first failure ends them all. */
export class SequenceMover implements Mover {
  readonly #parts: Iterator<SequencePart>;
  #part: SequencePart | undefined;
  #mover: Mover | undefined;
  #lastMover: Mover | undefined;
  /** Bytes of the parts that are done. */
  #doneBytes = 0;
  #failure: { readonly error: unknown } | undefined;

  /** Starts with the first part. */
  constructor(parts: Iterable<SequencePart>) {
    this.#parts = parts[Symbol.iterator]();
    this.#startNext();
  }

  /** Bytes that are where they belong. */
  get doneBytes(): number {
    return this.#doneBytes + (this.#mover?.doneBytes ?? 0);
  }

  /** Whether all pieces were moved and none is in flight. */
  get isOver(): boolean {
    return this.#mover === undefined;
  }

  /** The work of the GPU that comes before the next step. */
  get waitsFor(): Fence | undefined {
    return this.#mover?.waitsFor;
  }

  /** Whether only a turn of the event loop can tell more. */
  get needsTurn(): boolean {
    return this.#mover?.needsTurn === true;
  }

  /** Has the first part join the transfers that share threads. */
  join(how: Lending): void {
    this.#mover?.join(how);
  }

  /** Moves the next part. */
  step(how: Lending): boolean {
    const moved = this.#mover?.step(how) === true;
    if (this.#mover?.isOver !== true) return moved;
    this.#endPart(this.#mover);
    return true;
  }

  /** Keeps arrays, or lets the threads that use them come to rest. */
  beforeProgram(): void {
    this.#lastMover?.beforeProgram(); // also when it is over: its steps have moved others
  }

  /** Ends the sequence early. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#mover?.fail(error);
  }

  /** Throws the error that the sequence failed with. */
  end(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Resolves when the threads that the last part used are back. */
  async atRest(): Promise<void> {
    await this.#lastMover?.atRest();
  }

  #endPart(mover: Mover): void {
    try {
      const { doneBytes } = mover;
      mover.end();
      this.#part?.complete?.();
      this.#doneBytes += doneBytes;
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#startNext();
  }

  #startNext(): void {
    this.#mover = undefined;
    if (this.#failure !== undefined) return;
    const { value, done } = this.#parts.next();
    if (done === true) return;
    try {
      this.#part = value;
      this.#mover = this.#lastMover = value.start();
    } catch (error) {
      this.#failure ??= { error };
    }
  }
}
