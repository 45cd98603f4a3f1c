// Moves what always goes through the ring: files, and many small arrays packed together.

import type { CopyStream } from "../copies/copy_many.ts";
import type { Lending } from "../lanes/copy_lanes.ts";
import type { Fence } from "../order/fence.ts";
import type { TransferEngine } from "./engine.ts";
import type { Mover } from "./pending_transfer.ts";
import type { RingRequest, RingTransfer } from "./ring_transfer.ts";

/** One transfer through the ring. */
export class RingMover implements Mover {
  readonly #engine: TransferEngine;
  readonly #transfer: RingTransfer;

  /** Starts the transfer, behind the GPU's work before `entry`. */
  constructor(engine: TransferEngine, request: RingRequest, entry?: Fence) {
    this.#engine = engine;
    const follow = entry && ((stream: CopyStream) => entry.hold(stream.handle));
    this.#transfer = engine.start({ ...request, follow });
  }

  /** Bytes that have arrived. */
  get doneBytes(): number {
    return this.#transfer.doneBytes;
  }

  /** Whether all pieces were moved and none is in flight. */
  get isOver(): boolean {
    return this.#transfer.isOver && !this.#engine.isRunning(this.#transfer);
  }

  /** Always undefined: the GPU waits by itself. */
  get waitsFor(): undefined {
    return undefined;
  }

  /** Threads that the runtime lends for files report in turns of the event loop. */
  get needsTurn(): boolean {
    return this.#engine.lentCount > 0 || !this.#engine.isRunning(this.#transfer);
  }

  /** Does nothing: it has joined the others when it was made. */
  join(): void {}

  /** Moves what can be moved. */
  step(how: Lending): boolean {
    return this.#engine.advance(how);
  }

  /** Keeps arrays, or lets the threads that use them come to rest. */
  beforeProgram(): void {
    this.#engine.beforeProgram();
  }

  /** Ends the transfer early. */
  fail(error: unknown): void {
    this.#engine.fail(this.#transfer, error);
  }

  /** Throws the error of a failed transfer. */
  end(): void {
    this.#transfer.check();
  }

  /** Resolves when the threads that it used are back. */
  atRest(): Promise<void> {
    return this.#engine.atRest();
  }
}
