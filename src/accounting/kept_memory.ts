// Memory that was released while queued work, a transfer or a graph still uses it: the program
// cannot reach it any more, and the device does not have it back yet. Some of it is lost for ever.

import { type Ledger, type LiveKind, type MemoryCache, placeOf } from "./ledger.ts";

/** Memory of one place that nobody can use; it counts as cached there, and cannot be released. */
type HeldMemory = MemoryCache & { byteLength: number };

const KEPT = "work under way";

/** By ledger, and by name and place. */
const known = new WeakMap<Ledger, Map<string, HeldMemory>>();

/** Released blocks that are still in use, in the place where memory of a kind lies. */
export function keptMemory(ledger: Ledger, kind: LiveKind): HeldMemory {
  return heldMemory(KEPT, ledger, kind);
}

/** Returns the bytes of {@link keptMemory}; reports list it only once there was some. */
export function keptBytesOf(ledger: Ledger, kind: LiveKind): number {
  return known.get(ledger)?.get(`${KEPT} ${placeOf(kind)}`)?.byteLength ?? 0;
}

/** Memory that can never be released, in the place where memory of a kind lies. */
export function lostMemory(ledger: Ledger, kind: LiveKind): HeldMemory {
  return heldMemory("no one: lost", ledger, kind);
}

function heldMemory(name: string, ledger: Ledger, kind: LiveKind): HeldMemory {
  const memories = known.getOrInsertComputed(ledger, () => new Map());
  return memories.getOrInsertComputed(`${name} ${placeOf(kind)}`, () => {
    const memory: HeldMemory = { name, kind, byteLength: 0, trim() {} };
    ledger.caches.add(memory);
    return memory;
  });
}
