// Memory that was released while queued work, a transfer or a graph still uses it: the program
// cannot reach it any more, and the device does not have it back yet. Some of it is lost for ever.

import { type Ledger, type LiveKind, type MemoryCache, placeOf } from "./ledger.ts";

/** Memory of one place that nobody can use; it counts as cached there. */
class HeldMemory implements MemoryCache {
  readonly name: string;
  readonly kind: LiveKind;
  byteLength = 0;

  constructor(name: string, kind: LiveKind) {
    this.name = name;
    this.kind = kind;
  }

  /** Does nothing: it cannot be released. */
  trim(): void {}
}

/** By ledger, and by name and place. */
const known = new WeakMap<Ledger, Map<string, HeldMemory>>();

/** Released blocks that are still in use, in the place where memory of a kind lies. */
export function keptMemory(ledger: Ledger, kind: LiveKind): HeldMemory {
  return heldMemory("work under way", ledger, kind);
}

/** Memory that can never be released, in the place where memory of a kind lies. */
export function lostMemory(ledger: Ledger, kind: LiveKind): HeldMemory {
  return heldMemory("no one: lost", ledger, kind);
}

function heldMemory(name: string, ledger: Ledger, kind: LiveKind): HeldMemory {
  const memories = known.getOrInsertComputed(ledger, () => new Map());
  return memories.getOrInsertComputed(`${name} ${placeOf(kind)}`, () => {
    const memory = new HeldMemory(name, kind);
    ledger.caches.add(memory);
    return memory;
  });
}
