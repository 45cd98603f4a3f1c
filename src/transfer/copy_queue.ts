// The slots of one transfer that the copy engine works on, oldest first.

import { type CopyStream, queueCopies } from "../copies/copy_many.ts";
import type { Piece } from "./pieces.ts";
import type { Slot } from "./pinned_ring.ts";

/** A slot, and the piece that it carries. */
interface QueuedSlot {
  readonly slot: Slot;
  readonly piece: Piece;
}

/** Slots that were taken back, and the error when their copies failed. */
export interface FinishedCopies<S> {
  /** The slots, oldest first. */
  readonly done: readonly S[];
  /** Error that the driver reported, if any. */
  readonly error?: unknown;
}

/** The copies of one transfer. */
export class CopyQueue<S extends QueuedSlot> {
  readonly #stream: () => CopyStream | undefined;
  /** Slots with copies in the stream; the fence of each stands behind them. */
  readonly #queued: S[] = [];

  /** Starts empty, for a stream that is there before the first copy. */
  constructor(stream: () => CopyStream | undefined) {
    this.#stream = stream;
  }

  /** Queues the copies of a slot; returns it when they could not be queued. */
  push(loaded: S): FinishedCopies<S> | undefined {
    const stream = this.#stream();
    const { slot, piece } = loaded;
    if (stream === undefined) return undefined;
    try {
      queueCopies(piece.copies(slot.address), stream);
      slot.fence.set(stream.handle);
      this.#queued.push(loaded);
      return undefined;
    } catch (error) {
      this.#waitForAll();
      return { done: [loaded], error };
    }
  }

  /** Takes back the slots whose copies are over; returns undefined when none are. */
  poll(): FinishedCopies<S> | undefined {
    let count = 0;
    try {
      while (this.#queued[count]?.slot.fence.poll() === true) count++;
    } catch (error) {
      this.#waitForAll();
      return { done: this.#queued.splice(0), error };
    }
    return count === 0 ? undefined : { done: this.#queued.splice(0, count) };
  }

  /**
   * Blocks after a failure, because a slot without a fence must not be reused before its copy is
   * done.
   */
  #waitForAll(): void {
    const stream = this.#stream();
    stream?.context.driver.status("cuStreamSynchronize", stream.handle);
  }
}
