// The ledger's half of a track: it counts, and never refers to the track that people hold, so that one
// that was dropped can be collected.

import { MemoryCounters } from "./counters.ts";
import type { MemoryTrackFields } from "./memory_track.ts";

interface TrackRecordFields {
  readonly label: string;
  /** The number of the last object made before it; older ones do not count. */
  readonly afterId: number;
  /** Removes the record from the ledger. */
  readonly leave: (record: TrackRecord) => void;
}

/** The counters of a track while it is open, and their last values afterwards. */
export class TrackRecord implements MemoryTrackFields {
  readonly label: string;
  readonly usage: MemoryCounters = new MemoryCounters();
  readonly #afterId: number;
  readonly #leave: (record: TrackRecord) => void;
  #released = false;

  constructor({ label, afterId, leave }: TrackRecordFields) {
    this.label = label;
    this.#afterId = afterId;
    this.#leave = leave;
  }

  get released(): boolean {
    return this.#released;
  }

  add(byteLength: number): void {
    this.usage.add(byteLength);
  }

  /** Counts the release of an object that was created in the track. */
  remove(id: number, byteLength: number): void {
    if (id > this.#afterId) this.usage.remove(byteLength);
  }

  /** Ends the track; a second call does nothing. */
  end(): void {
    if (this.#released) return;
    this.#released = true;
    this.#leave(this);
  }

  /** Ends the track because nothing can reach it any more. */
  lose(): void {
    this.end();
  }
}
