// Memory that was released while queued work, a transfer or a graph still uses it: the program
// cannot reach it any more, and the device does not have it back yet.

import {
  type Ledger,
  type LiveKind,
  type MemoryCache,
  type MemoryPlace,
  placeOf,
} from "./ledger.ts";

export interface KeptBlock {
  readonly kind: LiveKind;
  readonly byteLength: number;
}

/** By class, ledger and place. */
const known = new Map<unknown, WeakMap<Ledger, Map<MemoryPlace, HeldMemory>>>();

/** Memory of one place that nobody can use; it counts as cached there. */
abstract class HeldMemory implements MemoryCache {
  abstract readonly name: string;
  readonly kind: LiveKind;
  byteLength = 0;

  constructor(kind: LiveKind) {
    this.kind = kind;
  }

  /** Returns the memory in the place where memory of a kind lies. */
  static of<H extends HeldMemory>(
    this: new (kind: LiveKind) => H,
    ledger: Ledger,
    kind: LiveKind,
  ): H {
    const places = known.getOrInsertComputed(this, () => new WeakMap())
      .getOrInsertComputed(ledger, () => new Map());
    const memory = places.getOrInsertComputed(placeOf(kind), () => new this(kind));
    ledger.caches.add(memory);
    return memory as H;
  }

  /** Does nothing: it cannot be released. */
  trim(): void {}
}

/** Blocks kept in one place, because they are in use. */
export class KeptMemory extends HeldMemory {
  readonly name = "work under way";
  /** Bytes that each block held when it was released. */
  readonly #blocks = new Map<KeptBlock, number>();

  /** Adds a block that was released and is kept. */
  add(block: KeptBlock): void {
    this.#blocks.set(block, block.byteLength);
    this.byteLength += block.byteLength;
  }

  delete(block: KeptBlock): void {
    this.byteLength -= this.#blocks.get(block) ?? 0;
    this.#blocks.delete(block);
  }
}

/** Memory that can never be released. */
export class LostMemory extends HeldMemory {
  readonly name = "no one: lost";

  add(byteLength: number): void {
    this.byteLength += byteLength;
  }
}
