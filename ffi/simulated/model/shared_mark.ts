// The mark of an event that several processes record and wait for.

import { type SharedBytes, WORD } from "./shared_bytes.ts";

/** A mark in a stream of one process, seen from another. */
export interface OutsideMark {
  /** That process has passed it. */
  readonly isPassed: boolean;
  /** That process can still pass it. */
  readonly isComing: boolean;
  /** This process learns of it only by its event loop, which a blocking call holds up. */
  readonly needsEventLoop?: boolean;
}

/** Counts how often an event was recorded, and how often a process has passed what it recorded. */
export class SharedMark {
  /** The words of all processes, and the handle. */
  readonly shared: SharedBytes;
  /** The last record by this process. */
  #own = 0;

  constructor(shared: SharedBytes) {
    this.shared = shared;
  }

  /** Notes a record by this process; returns the function to call when it has passed. */
  record(): () => void {
    const { words } = this.shared;
    const number = (words[WORD.recorded] ?? 0) + 1;
    this.#own = words[WORD.recorded] = number;
    return () => {
      words[WORD.done] = Math.max(words[WORD.done] ?? 0, number);
    };
  }

  /** Releases the event; the machine that made it revokes it for all others. */
  end(machine: string): void {
    const { facts, words } = this.shared;
    if (facts.machine === machine) words[WORD.isThere] = 0;
    this.shared.closeFile();
  }

  /** Returns the last mark when another process has set it. */
  get outside(): OutsideMark | undefined {
    const { shared } = this;
    const number = shared.words[WORD.recorded] ?? 0;
    if (number === this.#own) return undefined;
    return {
      get isPassed() {
        return (shared.words[WORD.done] ?? 0) >= number;
      },
      get isComing() {
        return shared.facts.pid !== Deno.pid && shared.isAlive;
      },
    };
  }
}
