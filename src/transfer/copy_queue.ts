// The slots of one transfer that are due for the copy engine or that it works on, oldest first.
// Asking an event costs 1.5 microseconds, so slots that are queued together share one, and uploads
// are not asked for before a slot is needed or nothing else is left to do.

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

const NONE: FinishedCopies = { done: [] };

/** The copies of one transfer. */
export class CopyQueue {
  readonly #transfer: RingTransfer;
  /** Slots that are queued in one call while the copy engine has enough to do. */
  readonly #batchSlots: number;
  /** Number of slots that keep the copy engine busy until more are ready. */
  readonly #enoughSlots: number;
  readonly #ready: LoadedSlot[] = [];
  /** Batches that the copy engine works on; the fence of a batch's last slot stands behind it. */
  readonly #batches: LoadedSlot[][] = [];
  #queuedCount = 0;

  /** Starts empty, for a ring of `slotCount` slots. */
  constructor(transfer: RingTransfer, slotCount: number) {
    this.#transfer = transfer;
    this.#batchSlots = Math.max(1, slotCount >> 3);
    this.#enoughSlots = slotCount >> 2;
  }

  /** Adds a slot whose turn it is; {@link CopyQueue.flush} queues its copies. */
  push(loaded: LoadedSlot): void {
    this.#ready.push(loaded);
  }

  /**
   * Queues the next ready slots: at once while the copy engine may run dry or when no more slots
   * come, else when a batch is complete. Returns the slots whose copies could not be queued;
   * undefined when nothing is due.
   */
  flush(): FinishedCopies | undefined {
    const isDry = this.#queuedCount < this.#enoughSlots;
    const count = isDry ? 1 : this.#batchSlots;
    if (this.#ready.length === 0 || (this.#ready.length < count && !this.#hasAll)) return undefined;
    const batch = this.#ready.splice(0, count);
    for (const _ of batch) this.#transfer.noteQueued();
    try {
      this.#queue(batch);
      return NONE;
    } catch (error) {
      this.#waitForAll();
      return { done: batch, error };
    }
  }

  /**
   * Takes back slots whose copies are over; returns undefined when none are. `isStarved` tells that
   * a transfer waits for a slot.
   */
  poll(isStarved: boolean): FinishedCopies | undefined {
    const fence = this.#batches[0]?.at(-1)?.slot.fence;
    if (fence === undefined) return undefined;
    const isUpload = this.#transfer.direction === "upload";
    if (isUpload && !isStarved && !this.#isLast) return undefined;
    try {
      if (!fence.poll()) return undefined;
    } catch (error) {
      this.#waitForAll();
      return { done: this.#take(this.#batches.length), error };
    }
    return { done: this.#take(1) };
  }

  /** Whether all that is left to be queued is ready. */
  get #hasAll(): boolean {
    return !this.#transfer.isWaiting && this.#transfer.unqueuedCount === this.#ready.length;
  }

  get #isLast(): boolean {
    return this.#hasAll && this.#ready.length === 0;
  }

  #queue(batch: LoadedSlot[]): void {
    const { stream } = this.#transfer;
    if (stream === undefined) return;
    queueCopies(batch.flatMap(({ slot, piece }) => piece.copies(slot.address)), stream);
    batch.at(-1)?.slot.fence.set(stream.handle);
    this.#batches.push(batch);
    this.#queuedCount += batch.length;
  }

  /**
   * Blocks after a failure, because a slot without a fence must not be reused before its copy is
   * done.
   */
  #waitForAll(): void {
    const { stream } = this.#transfer;
    stream?.context.driver.status("cuStreamSynchronize", stream.handle);
  }

  #take(batchCount: number): LoadedSlot[] {
    const taken = this.#batches.splice(0, batchCount).flat();
    this.#queuedCount -= taken.length;
    return taken;
  }
}
