// Memory that was released while queued work, a transfer or a graph still uses it: the program
// cannot reach it any more, and the device does not have it back yet.

import { type Ledger, type LiveKind, type MemoryCache, placeOf } from "./ledger.ts";

/** A block that is kept. */
export interface KeptBlock {
  readonly kind: LiveKind;
  readonly byteLength: number;
}

const known = new WeakMap<Ledger, Map<string, KeptMemory>>();

/** Blocks kept in one place; they count as cached there. */
export class KeptMemory implements MemoryCache {
  readonly name = "work under way";
  readonly kind: LiveKind;
  /** Bytes that each block held when it was released. */
  readonly #blocks = new Map<KeptBlock, number>();
  byteLength = 0;

  private constructor(kind: LiveKind) {
    this.kind = kind;
  }

  /** Returns the blocks kept in the place where memory of a kind lies. */
  static of(ledger: Ledger, kind: LiveKind): KeptMemory {
    const places = known.getOrInsertComputed(ledger, () => new Map());
    const kept = places.getOrInsertComputed(placeOf(kind), () => new KeptMemory(kind));
    ledger.caches.add(kept);
    return kept;
  }

  /** Adds a block that was released and is kept. */
  add(block: KeptBlock): void {
    this.#blocks.set(block, block.byteLength);
    this.byteLength += block.byteLength;
  }

  delete(block: KeptBlock): void {
    this.byteLength -= this.#blocks.get(block) ?? 0;
    this.#blocks.delete(block);
  }

  /** Does nothing: kept memory is in use. */
  trim(): void {}
}

const lost = new WeakMap<Ledger, Map<string, LostMemory>>();

/** Memory that can never be released; it counts as cached where it lies. */
export class LostMemory implements MemoryCache {
  readonly name = "no one: lost";
  readonly kind: LiveKind;
  byteLength = 0;

  private constructor(kind: LiveKind) {
    this.kind = kind;
  }

  /** Returns the lost memory of the place where memory of a kind lies. */
  static of(ledger: Ledger, kind: LiveKind): LostMemory {
    const places = lost.getOrInsertComputed(ledger, () => new Map());
    const memory = places.getOrInsertComputed(placeOf(kind), () => new LostMemory(kind));
    ledger.caches.add(memory);
    return memory;
  }

  add(byteLength: number): void {
    this.byteLength += byteLength;
  }

  /** Does nothing: lost memory cannot be released. */
  trim(): void {}
}
