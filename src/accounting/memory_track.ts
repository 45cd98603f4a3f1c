// Counts device memory during a part of a program: gpu.track("epoch 1"). Tracks nest and may
// overlap; each counts for itself what is allocated while it is open.

import { formatBytes, formatCount, visibleText } from "../words/format.ts";
import { comesFrom, type Parts, partsOf } from "../words/parts.ts";
import { refuseCloning } from "../words/uncloneable.ts";
import { MemoryCounters, type MemoryUsage } from "./counters.ts";

/**
 * The ledger's half of a {@link MemoryTrack}: it counts, and never refers to the track that people hold,
 * so that one that was dropped can be collected.
 */
export class TrackRecord extends MemoryCounters {
  readonly label: string;
  /** The number of the last object made before it; older ones do not count. */
  readonly #afterId: number;
  #leave: ((record: TrackRecord) => void) | undefined;

  /** Counts until it is ended; `leave` removes it from the ledger. */
  constructor(
    { label, afterId, leave }: {
      readonly label: string;
      readonly afterId: number;
      readonly leave: (record: TrackRecord) => void;
    },
  ) {
    super();
    this.label = label;
    this.#afterId = afterId;
    this.#leave = leave;
  }

  get released(): boolean {
    return this.#leave === undefined;
  }

  /** Counts the release of an object if that was created in the track. */
  removeOf(id: number, byteLength: number): void {
    if (id > this.#afterId) this.remove(byteLength);
  }

  /** Ends the track, also because nothing can reach it any more; a second call does nothing. */
  release(): void {
    const leave = this.#leave;
    this.#leave = undefined;
    leave?.(this);
  }
}

const UNCLONEABLE = Symbol("a track goes on counting; pass on its toJSON()");

/**
 * Counts the device memory that is allocated while it is open, as {@link CudaDevice.track} returns
 * it. Frees count only for memory allocated in the track, so `currentBytes` at the end is what that
 * part of the program left behind. A track that is dropped ends when it is garbage-collected.
 */
export class MemoryTrack implements MemoryUsage, Disposable {
  /** The track's name; objects created meanwhile have it as their scope. */
  readonly label: string;
  readonly #record: TrackRecord;

  /** @ignore Shows a record of the ledger. */
  constructor(parts: Parts<TrackRecord>) {
    const record = partsOf(parts, new.target);
    this.label = record.label;
    this.#record = record;
    refuseCloning(this, UNCLONEABLE);
  }

  get currentBytes(): number {
    return this.#record.currentBytes;
  }

  get peakBytes(): number {
    return this.#record.peakBytes;
  }

  get totalBytes(): number {
    return this.#record.totalBytes;
  }

  get currentCount(): number {
    return this.#record.currentCount;
  }

  get peakCount(): number {
    return this.#record.peakCount;
  }

  get totalCount(): number {
    return this.#record.totalCount;
  }

  /** Tells whether the track was ended; its numbers stay as they were then. */
  get ended(): boolean {
    return this.#record.released;
  }

  /** Ends the track; a second call does nothing. */
  dispose(): void {
    this.#record.release();
  }

  /** Same as {@link MemoryTrack.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Returns the numbers as plain data. */
  toJSON(): MemoryUsage & { readonly label: string } {
    return { label: this.label, ...this.#record.snapshot() };
  }

  /** Returns the counts: `epoch 1: 2 MiB in 1 buffer now, 6 MiB at most, 12 MiB in 5 in all`. */
  toString(): string {
    const { label, currentBytes, currentCount, peakBytes, totalBytes, totalCount } = this;
    return `${visibleText(label)}: ${formatBytes(currentBytes)} in ` +
      `${formatCount(currentCount, "buffer")} now, ${formatBytes(peakBytes)} at most, ` +
      `${formatBytes(totalBytes)} in ${totalCount} in all`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }
}

comesFrom(MemoryTrack, "gpu.track()");
