// The slots of one transfer that the copy engine works on, oldest first.

import { queueCopies } from "../copies/copy_many.ts";
import type { LoadedSlot } from "./pinned_ring.ts";
import type { RingTransfer } from "./ring_transfer.ts";

/** Slots that were taken back, and the error when their copies failed. */
export interface FinishedCopies {
  /** The slots, oldest first. */
  readonly done: readonly LoadedSlot[];
  /** Error that the driver reported, if any. */
  readonly error?: unknown;
}

/** The copies of one transfer. */
export class CopyQueue {
  readonly #transfer: RingTransfer;
  /** Slots with copies in the stream; the fence of each stands behind them. */
  readonly #queued: LoadedSlot[] = [];

  /** Starts empty. */
  constructor(transfer: RingTransfer) {
    this.#transfer = transfer;
  }

  /** Queues the copies of a slot; returns it when they could not be queued. */
  push(loaded: LoadedSlot): FinishedCopies | undefined {
    const { stream } = this.#transfer;
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
  poll(): FinishedCopies | undefined {
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
    const { stream } = this.#transfer;
    stream?.context.driver.status("cuStreamSynchronize", stream.handle);
  }
}
