// What happens to device memory during a part of a program: gpu.track("epoch 1").
// Tracks nest and may overlap; each counts for itself what is allocated while it is open.

import { type DisplayBundle, showCard } from "../cards/card.ts";
import { trackCard } from "../cards/report_cards.ts";
import { MemoryCounters, type MemoryUsage } from "./counters.ts";
import { formatBytes, formatCount, visibleText } from "../format.ts";

/** What a {@link MemoryTrack} needs of the ledger that opens it. */
export interface MemoryTrackFields {
  /** Its name. */
  readonly label: string;
  /** The number of the last object made before it; older ones do not count. */
  readonly afterId: number;
  /** Ends it in the ledger. */
  readonly end: (track: MemoryTrack) => void;
}

/**
 * Counts the device memory that is allocated while it is open. What is freed counts when it was
 * allocated in the track too, so that `currentBytes` after the end is what the part left behind.
 */
export class MemoryTrack implements MemoryUsage, Disposable {
  /** Its name, which objects made meanwhile carry as their scope. */
  readonly label: string;
  readonly #afterId: number;
  readonly #end: (track: MemoryTrack) => void;
  readonly #counters = new MemoryCounters();
  #ended = false;

  /** Opens a track; use gpu.track(). */
  constructor({ label, afterId, end }: MemoryTrackFields) {
    this.label = label;
    this.#afterId = afterId;
    this.#end = end;
  }

  /** Counts an allocation. */
  add(byteLength: number): void {
    this.#counters.add(byteLength);
  }

  /** Counts the release of an object when it was made in the track. */
  remove(id: number, byteLength: number): void {
    if (id > this.#afterId) this.#counters.remove(byteLength);
  }

  get currentBytes(): number {
    return this.#counters.currentBytes;
  }

  get peakBytes(): number {
    return this.#counters.peakBytes;
  }

  get totalBytes(): number {
    return this.#counters.totalBytes;
  }

  get currentCount(): number {
    return this.#counters.currentCount;
  }

  get peakCount(): number {
    return this.#counters.peakCount;
  }

  get totalCount(): number {
    return this.#counters.totalCount;
  }

  /** Whether it was ended; its numbers stay as they were then. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Ends the track; a second call does nothing. */
  dispose(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#end(this);
  }

  /** Same as {@link MemoryTrack.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** The numbers as plain data. */
  toJSON(): MemoryUsage & { readonly label: string } {
    return { label: this.label, ...this.#counters.snapshot() };
  }

  /** Says what it counted: `epoch 1: 2 MiB in 1 buffer now, 6 MiB at most, 12 MiB in 5 in all`. */
  toString(): string {
    const { label, currentBytes, currentCount, peakBytes, totalBytes, totalCount } = this;
    return `${visibleText(label)}: ${formatBytes(currentBytes)} in ${
      formatCount(currentCount, "buffer")
    } now, ` +
      `${formatBytes(peakBytes)} at most, ${formatBytes(totalBytes)} in ${totalCount} in all`;
  }

  /** Shows the numbers in a notebook. */
  [Symbol.for("Jupyter.display")](): DisplayBundle {
    return showCard(() => trackCard(this));
  }

  /** Shows the numbers on a console. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }
}
