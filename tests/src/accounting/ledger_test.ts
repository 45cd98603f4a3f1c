// Checks what the ledger counts: bytes by place, peaks, tracks, caches, and entries that come and go.

import { assertEquals } from "@std/assert";
import { nextId } from "../../../src/accounting/clock.ts";
import {
  Ledger,
  type LedgerEntry,
  type LiveKind,
  placeOf,
} from "../../../src/accounting/ledger.ts";
import { MemoryTrack } from "../../../src/accounting/memory_track.ts";
import { Parts } from "../../../src/words/parts.ts";

Deno.test("Ledger.add() counts device and host memory apart", () => {
  const ledger = new Ledger();
  ledger.add(block("device", 100));
  ledger.add(block("pinned", 10));
  ledger.add(block("imported", 1));
  ledger.add(block("stream", 0));
  assertEquals([ledger.device.currentBytes, ledger.host.currentBytes, ledger.length], [100, 10, 4]);
});

Deno.test("Ledger.remove() takes an entry out once, wherever it stands", () => {
  const ledger = new Ledger();
  const blocks = [1, 2, 4, 8].map((bytes) => block("device", bytes));
  for (const entry of blocks) ledger.add(entry);
  const [first, second, third, last] = blocks;
  for (const entry of [second, second, last, first]) if (entry !== undefined) ledger.remove(entry);
  assertEquals(ledger.entries(), third === undefined ? [] : [third]);
  assertEquals([ledger.device.currentBytes, ledger.device.currentCount], [4, 1]);
});

Deno.test("Ledger.remove() leaves a stranger of the same slot alone", () => {
  const [ledger, other] = [new Ledger(), new Ledger()];
  const [mine, strange] = [block("device", 1), block("device", 2)];
  ledger.add(mine);
  other.add(strange);
  ledger.remove(strange);
  assertEquals(ledger.entries(), [mine]);
  assertEquals(other.entries(), [strange]);
});

Deno.test("Ledger.recount() follows a block that grows, shrinks and empties", () => {
  const ledger = new Ledger();
  const growing = { ...block("virtual", 0) };
  ledger.add(growing);
  const seen: number[][] = [];
  for (const byteLength of [8, 32, 0, 4]) {
    const formerBytes = growing.byteLength;
    Object.assign(growing, { byteLength });
    ledger.recount(growing, formerBytes);
    seen.push([ledger.device.currentBytes, ledger.device.currentCount, ledger.device.peakBytes]);
  }
  assertEquals(seen, [[8, 1, 8], [32, 1, 32], [0, 0, 32], [4, 1, 32]]);
});

Deno.test("Ledger.entries() lists oldest first although slots are reused", () => {
  const ledger = new Ledger();
  const blocks = [1, 2, 3, 4].map((bytes) => block("device", bytes));
  for (const entry of blocks) ledger.add(entry);
  const [first] = blocks;
  if (first !== undefined) ledger.remove(first);
  assertEquals(ledger.entries().map(({ byteLength }) => byteLength), [2, 3, 4]);
});

Deno.test("Ledger.largest() names the largest of a place, largest first", () => {
  const ledger = new Ledger();
  for (const bytes of [3, 9, 1, 7, 5]) ledger.add(block("device", bytes));
  ledger.add(block("pinned", 100));
  assertEquals(ledger.largest(3, "device").map(({ byteLength }) => byteLength), [9, 7, 5]);
});

Deno.test("Ledger.openTrack() counts what is made inside, and what of it is left", () => {
  const ledger = new Ledger();
  const before = block("device", 1000);
  ledger.add(before);
  const track = openTrack(ledger, "epoch");
  const [kept, dropped] = [block("device", 10), block("device", 5)];
  for (const entry of [kept, dropped]) ledger.add(entry);
  ledger.remove(dropped);
  ledger.remove(before);
  track.dispose();
  ledger.add(block("device", 77));
  const { currentBytes, currentCount, peakBytes, peakCount, totalBytes, totalCount } = track;
  assertEquals([currentBytes, peakBytes, totalBytes], [10, 15, 15]);
  assertEquals([currentCount, peakCount, totalCount], [1, 2, 2]);
});

Deno.test("Ledger.openTrack() nests: the outer one counts the inner one's memory too", () => {
  const ledger = new Ledger();
  using outer = openTrack(ledger, "outer");
  ledger.add(block("device", 1));
  {
    using inner = openTrack(ledger, "inner");
    const scope = ledger.add(block("device", 2));
    assertEquals([inner.totalBytes, scope], [2, "inner"]);
  }
  assertEquals([outer.totalBytes, ledger.add(block("event", 0))], [3, "outer"]);
});

Deno.test("Ledger.openTrack() may end out of order", () => {
  const ledger = new Ledger();
  const [first, second] = [openTrack(ledger, "first"), openTrack(ledger, "second")];
  first.dispose();
  first.dispose();
  const scope = ledger.add(block("event", 0));
  assertEquals([scope, first.ended, second.ended], ["second", true, false]);
  second.dispose();
  assertEquals(ledger.add(block("event", 0)), undefined);
});

Deno.test("Ledger.cachedBytes() keeps device and host apart", () => {
  const ledger = new Ledger();
  const cache = (kind: LiveKind, byteLength: number) => ({
    name: kind,
    kind,
    byteLength,
    trim: () => {},
  });
  ledger.caches.add(cache("device", 3));
  ledger.caches.add(cache("pinned", 5));
  assertEquals([ledger.cachedBytes("device"), ledger.cachedBytes("host")], [3, 5]);
});

Deno.test("placeOf() says where memory of a kind lies", () => {
  const kinds: LiveKind[] = ["device", "managed", "virtual", "pinned", "mapped", "registered"];
  assertEquals(kinds.map(placeOf), ["device", "device", "device", "host", "host", "host"]);
  assertEquals(placeOf("imported"), "elsewhere");
});

function block(kind: LiveKind, byteLength: number): LedgerEntry {
  return {
    id: nextId(),
    kind,
    byteLength,
    label: undefined,
    origin: undefined,
    stack: undefined,
    scope: undefined,
    address: 0n,
    streamHandle: 0n,
    createdAt: 0,
    slot: -1,
    release: () => {},
  };
}

/** Opens a track as programs hold it. */
function openTrack(ledger: Ledger, label: string): MemoryTrack {
  return new MemoryTrack(new Parts(ledger.openTrack(label)));
}
