// The slots of one transfer that the copy engine works on, oldest first.
// Asking an event costs 1.5 microseconds, so uploads share one among several copies, and nobody asks
// before a slot is wanted or nothing else is left to do.

import type { LoadedSlot } from "./pinned_ring.ts";
import type { RingTransfer } from "./ring_transfer.ts";

/** Copies of an upload that share a fence. */
const UPLOAD_GROUP = 8;

/** Slots that were taken back, and the error when their copies failed. */
export interface FinishedCopies {
  /** The slots, oldest first. */
  readonly done: readonly LoadedSlot[];
  /** What the driver reported, when it reported a failure. */
  readonly error?: unknown;
}

const NONE: FinishedCopies = { done: [] };

/** The copies that a transfer has queued on its stream. */
export class CopyQueue {
  readonly #transfer: RingTransfer;
  readonly #groupSize: number;
  readonly #slots: LoadedSlot[] = [];
  /** How many slots from the oldest on the next fence stands behind. */
  #fencedCount = 0;

  /** Starts empty. */
  constructor(transfer: RingTransfer) {
    this.#transfer = transfer;
    this.#groupSize = transfer.request.direction === "upload" ? UPLOAD_GROUP : 1;
  }

  /** Queues the copy between a slot and the device (cuMemcpyAsync). */
  push(loaded: LoadedSlot): void {
    const { stream, direction, deviceAddress } = this.#transfer.request;
    const { slot, piece } = loaded;
    const device = deviceAddress + BigInt(piece.offset);
    const isUpload = direction === "upload";
    const [destination, source] = isUpload ? [device, slot.address] : [slot.address, device];
    const { context, handle } = stream;
    const size = BigInt(piece.byteLength);
    const status = context.driver.api.cuMemcpyAsync(destination, source, size, handle);
    context.settle(status, "cuMemcpyAsync", destination, source, size, handle);
    if (this.#groupSize === 1) this.#setFence(loaded);
    this.#slots.push(loaded);
  }

  /** Takes back slots whose copies are over; `isStarved` says that somebody waits for a slot. */
  poll({ isStarved }: { isStarved: boolean }): FinishedCopies {
    const [oldest] = this.#slots;
    if (oldest === undefined) return NONE;
    const isLast = this.#transfer.allQueued;
    if (this.#groupSize > 1 && !isStarved && !isLast) return NONE;
    try {
      if (this.#fencedCount === 0 && !this.#fence(isLast || isStarved)) return NONE;
      const fence = this.#slots[this.#fencedCount - 1]?.slot.fence;
      if (fence?.poll() === false) return NONE;
    } catch (error) {
      this.#waitForAll();
      return { done: this.#take(), error };
    }
    return { done: this.#take() };
  }

  /** Puts a fence behind a group of copies; false while a group that may grow is not complete. */
  #fence(isComplete: boolean): boolean {
    if (this.#groupSize === 1) {
      this.#fencedCount = 1;
      return true;
    }
    if (this.#slots.length < this.#groupSize && !isComplete) return false;
    this.#fencedCount = this.#slots.length;
    const last = this.#slots.at(-1);
    if (last !== undefined) this.#setFence(last);
    return true;
  }

  #setFence({ slot }: LoadedSlot): void {
    try {
      slot.fence.set(this.#transfer.request.stream.handle);
    } catch (error) {
      this.#waitForAll();
      throw error;
    }
  }

  /** Blocks, after a failure: a slot that no fence guards must not be used again before its copy. */
  #waitForAll(): void {
    this.#transfer.request.stream.context.status("cuCtxSynchronize");
  }

  #take(): LoadedSlot[] {
    const taken = this.#slots.splice(0, this.#fencedCount);
    this.#fencedCount = 0;
    return taken;
  }
}
