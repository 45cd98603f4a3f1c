// The live objects of a context: one entry for each allocation, stream and event. Entries never
// refer to the objects people hold, so garbage collection stays possible.

import { visibleText } from "../words/format.ts";
import { followCells } from "./cell_runs.ts";
import { MemoryCounters } from "./counters.ts";
import { lastId } from "./clock.ts";
import { TrackRecord } from "./memory_track.ts";
import { OriginFinder } from "./origin.ts";
import { Timeline } from "./timeline.ts";
import type { TimelineAction } from "./timeline_event.ts";
import { tellUnawaited } from "./unawaited_calls.ts";
import { Undisposed } from "./undisposed.ts";

/** Kinds of objects that a context can hold. */
export type LiveKind =
  | "device"
  | "pinned"
  | "mapped"
  | "managed"
  | "virtual"
  | "registered"
  | "imported"
  | "pool"
  | "stream"
  | "event"
  | "graph"
  | "module"
  | "group"
  | "dlpack";

/** Names of all kinds. */
export const LIVE_KINDS = [
  "device",
  "pinned",
  "mapped",
  "managed",
  "virtual",
  "registered",
  "imported",
  "pool",
  "stream",
  "event",
  "graph",
  "module",
  "group",
  "dlpack",
] as const satisfies readonly LiveKind[];

/** One live object: the record that both dispose and garbage collection go through. */
export interface LedgerEntry {
  /** Number of the object, unique in this process. */
  readonly id: number;
  readonly kind: LiveKind;
  /** Bytes it holds; 0 for what is no memory: streams, events, graphs and the like. */
  readonly byteLength: number;
  readonly label: string | undefined;
  /**
   * Place where it was created, as `file:line:column` or `cell 7:line:column`; known for large
   * blocks, and for all objects in notebooks.
   */
  readonly origin: string | undefined;
  /** Places on the stack where it was created, nearest first; one unless all are kept. */
  readonly stack: readonly string[] | undefined;
  /** The innermost track that was open when it was created. */
  readonly scope: string | undefined;
  /** Its address; 0n for streams, events, graphs, modules and groups. */
  readonly address: bigint;
  /** The handle of the stream it belongs to; 0n for streams, events, graphs, modules and groups. */
  readonly streamHandle: bigint;
  /**
   * Time of creation, in milliseconds since 1970. A few small blocks created in one turn of the
   * event loop share the time of the first.
   */
  readonly createdAt: number;
  /** Where its contents are while its memory has left the device: `"asleep, 4 GiB in host memory"`. */
  readonly asleep?: string | undefined;
  /** Its index in the ledger, -1 outside; only the ledger sets it. */
  slot: number;
  /** Releases the object; a second call does nothing, and it never throws. */
  release(): void;
}

/** Place of memory: on the device, on the host, or with another program that lends it. */
export type MemoryPlace = "device" | "host" | "elsewhere";

/** Memory that the kit or a caching resource keeps for reuse. */
export interface MemoryCache {
  /** Name for reports. */
  readonly name: string;
  /** Kind of the memory; `"array"` is ordinary memory of the host. */
  readonly kind: LiveKind | "array";
  readonly byteLength: number;
  /** Bytes of the largest block that it keeps, where it knows them: the rest of the bytes lie apart. */
  readonly largestBytes?: number;
  /** `gpu.limit()` ignores it. */
  readonly isUnlimited?: boolean;
  /** Releases the memory that is not in use. */
  trim(): void;
}

/** Memory of the device that a library holds for the program; it counts as others'. */
export interface LibraryUsage {
  /** Name of the library, and of what it serves. */
  readonly name: string;
  /** Bytes by which the device's free memory shrank when the library started. */
  readonly byteLength: number;
}

/** A moment, for releasing what was created since: `gpu.mark()` and `gpu.disposeSince()`. */
export interface MemoryMark {
  /** Number of the last object created before; later objects have larger numbers. */
  readonly id: number;
}

/** Returns an entry's name for errors and tables: its label, or its kind and number. */
export function nameOf(entry: Pick<LedgerEntry, "label" | "kind" | "id">): string {
  return entry.label === undefined ? `${entry.kind}#${entry.id}` : visibleText(entry.label);
}

/** Returns the place of a kind of memory; managed memory counts as the device's. */
export function placeOf(kind: LiveKind | "array"): MemoryPlace {
  if (kind === "device" || kind === "managed" || kind === "virtual") return "device";
  return kind === "imported" || kind === "array" ? "elsewhere" : "host";
}

/** The two ends of a copy and its stream; an end that is left out is ordinary host memory. */
export interface CopyEnds {
  readonly destination?: LedgerEntry;
  readonly source?: LedgerEntry;
  readonly streamHandle: bigint;
}

/** Some bytes at an address. */
export interface AddressRange {
  readonly address: bigint;
  readonly byteLength: number;
}

/** The live objects of one context, and statistics about past ones. */
export class Ledger {
  /** Memory kept for reuse; not counted as live. */
  readonly caches: Set<MemoryCache> = new Set();
  /** Memory of the device that libraries hold for the program; reports list it. */
  readonly libraries: Set<LibraryUsage> = new Set();
  /** Live memory on the device. */
  readonly device: MemoryCounters = new MemoryCounters();
  /** Live memory on the host: page-locked, mapped and registered. */
  readonly host: MemoryCounters = new MemoryCounters();
  /** Finds the places where objects are created. */
  readonly origins: OriginFinder = new OriginFinder();
  /** Recent events. */
  readonly timeline: Timeline = new Timeline();
  /** Objects that the garbage collector had to release. */
  readonly undisposed: Undisposed = new Undisposed();
  /** Largest amount of device memory that live objects may hold; undefined for no limit. */
  limitBytes: number | undefined;
  /** The entries, in no order: the last entry takes the index of a removed one. */
  readonly #entries: LedgerEntry[] = [];
  readonly #tracks: TrackRecord[] = [];

  /** Creates an empty ledger; in a notebook it follows cells from now on. */
  constructor() {
    followCells();
    tellUnawaited();
  }

  /** Number of live objects, streams and events included. */
  get length(): number {
    return this.#entries.length;
  }

  /** Adds an entry, and returns the innermost track that is open. */
  add(entry: LedgerEntry): string | undefined {
    entry.slot = this.#entries.length;
    this.#entries.push(entry);
    if (entry.byteLength > 0) this.#count("allocate", entry, entry.byteLength);
    return this.#tracks.at(-1)?.label;
  }

  remove(entry: LedgerEntry): void {
    const { slot } = entry;
    if (this.#entries[slot] !== entry) return;
    const last = this.#entries.pop();
    if (last !== undefined && last !== entry) {
      this.#entries[slot] = last;
      last.slot = slot;
    }
    entry.slot = -1;
    if (entry.byteLength > 0) this.#count("free", entry, entry.byteLength);
  }

  /** Updates the number of bytes of a live object. */
  recount(entry: LedgerEntry, formerBytes: number): void {
    if (this.#entries[entry.slot] !== entry) return;
    if (formerBytes > 0) this.#count("free", entry, formerBytes);
    if (entry.byteLength > 0) this.#count("allocate", entry, entry.byteLength);
  }

  /** Records a copy in the timeline, which is on. */
  noteCopy(byteLength: number, { destination, source, streamHandle }: CopyEnds): void {
    this.timeline.record({
      action: "copy",
      id: destination?.id ?? 0,
      kind: destination?.kind ?? "host",
      name: destination === undefined ? "host" : nameOf(destination),
      source: source === undefined ? "host" : nameOf(source),
      byteLength,
      deviceBytes: this.device.currentBytes,
      address: destination?.address ?? 0n,
      stream: streamHandle,
    });
  }

  /** Opens a track, which counts device memory until the caller ends it. */
  openTrack(label: string): TrackRecord {
    const leave = (record: TrackRecord) => this.#end(record);
    const record = new TrackRecord({ label, afterId: lastId(), leave });
    this.#tracks.push(record);
    this.#noteTrack("begin", record);
    return record;
  }

  /** Bytes that caches keep for reuse on the device or on the host. */
  cachedBytes(place: MemoryPlace, { isForLimit = false } = {}): number {
    let bytes = 0;
    for (const cache of this.caches) {
      if (isForLimit && cache.isUnlimited) continue;
      if (placeOf(cache.kind) === place) bytes += cache.byteLength;
    }
    return bytes;
  }

  /** All live objects, oldest first. */
  entries(): LedgerEntry[] {
    return [...this.#entries].sort((a, b) => a.id - b.id);
  }

  /** Iterates over the live objects, in no order. */
  [Symbol.iterator](): Iterator<LedgerEntry> {
    return this.#entries.values();
  }

  /** Finds the smallest live object that holds a range of addresses, by looking at all of them. */
  holderOf({ address, byteLength }: AddressRange): LedgerEntry | undefined {
    const end = address + BigInt(byteLength);
    let holder: LedgerEntry | undefined;
    for (const entry of this.#entries) {
      const isAround = entry.byteLength >= byteLength && entry.address <= address &&
        entry.address + BigInt(entry.byteLength) >= end;
      if (isAround && !(holder && holder.byteLength <= entry.byteLength)) holder = entry;
    }
    return holder;
  }

  /** Releases all objects created after the object with this `id`, newest first; 0 for all. */
  releaseAfter(id: number): void {
    const late = this.entries().filter((entry) => entry.id > id);
    for (const entry of late.reverse()) entry.release();
  }

  /** Bytes of live blocks whose memory has left the device for a while. */
  asleepBytes = 0;

  /** The `count` largest allocations of a place, largest first. */
  largest(count: number, place: MemoryPlace): LedgerEntry[] {
    const top: LedgerEntry[] = [];
    for (const entry of this.#entries) {
      if (entry.byteLength === 0 || placeOf(entry.kind) !== place) continue;
      const at = top.findIndex((other) => other.byteLength < entry.byteLength);
      if (at === -1) top.push(entry);
      else top.splice(at, 0, entry);
      if (top.length > count) top.pop();
    }
    return top;
  }

  #count(action: "allocate" | "free", entry: LedgerEntry, byteLength: number): void {
    const place = placeOf(entry.kind);
    if (place === "elsewhere") return;
    const isNew = action === "allocate";
    if (isNew) this[place].add(byteLength);
    else this[place].remove(byteLength);
    for (const track of place === "device" ? this.#tracks : []) {
      if (isNew) track.add(byteLength);
      else track.removeOf(entry.id, byteLength);
    }
    if (!this.timeline.isOn) return;
    this.timeline.record({
      action,
      id: entry.id,
      kind: entry.kind,
      name: nameOf(entry),
      byteLength,
      deviceBytes: this.device.currentBytes,
      address: entry.address,
      stream: entry.streamHandle,
      stack: entry.stack,
    });
  }

  #noteTrack(action: TimelineAction, { label, currentBytes }: TrackRecord): void {
    if (!this.timeline.isOn) return;
    this.timeline.record({
      action,
      id: 0,
      kind: "track",
      name: label,
      byteLength: currentBytes,
      deviceBytes: this.device.currentBytes,
      address: 0n,
      stream: 0n,
    });
  }

  #end(record: TrackRecord): void {
    const at = this.#tracks.indexOf(record);
    if (at !== -1) this.#tracks.splice(at, 1);
    this.#noteTrack("end", record);
  }
}
