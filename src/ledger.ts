// What a context still holds: one entry for each live allocation, stream and event.
// Entries never refer to the objects people hold, so garbage collection stays possible.

import { formatBytes } from "./format.ts";

/** Kinds of objects that a context can hold. */
export type LiveKind =
  | "device"
  | "pinned"
  | "mapped"
  | "managed"
  | "virtual"
  | "registered"
  | "imported"
  | "stream"
  | "event";

/** One live object: the record that both dispose and garbage collection go through. */
export interface LedgerEntry {
  /** Its number in this process, never used again. */
  readonly id: number;
  /** What it is. */
  readonly kind: LiveKind;
  /** Bytes it holds; 0 for streams and events. */
  readonly byteLength: number;
  /** The name its maker gave it. */
  readonly label: string | undefined;
  /** Where it was made, as `file:line:column`; recorded for large blocks and in notebooks. */
  readonly origin: string | undefined;
  /** When it was made, in milliseconds since 1970. */
  readonly createdAt: number;
  /** Gives it back; a second call does nothing, and it never throws. */
  release(): void;
}

/** Memory that the kit or a caching resource keeps for reuse. */
export interface MemoryCache {
  /** What it is, for reports. */
  readonly name: string;
  /** What kind of memory it keeps. */
  readonly kind: LiveKind;
  /** Bytes it keeps. */
  readonly byteLength: number;
  /** Gives back what nothing uses right now. */
  trim(): void;
}

let lastId = 0;

/** Takes the next number for a live object or a view. */
export function nextId(): number {
  return ++lastId;
}

/** Names an entry as errors and tables do: its label, or its kind and number. */
export function nameOf(entry: LedgerEntry): string {
  return entry.label ?? `${entry.kind}#${entry.id}`;
}

/** The live objects of one context, oldest first. */
export class Ledger {
  /** Memory kept for reuse; not counted as live. */
  readonly caches: Set<MemoryCache> = new Set();
  readonly #entries = new Set<LedgerEntry>();
  #liveBytes = 0;
  #liveCount = 0;
  #peakBytes = 0;

  /** Adds a live object. */
  add(entry: LedgerEntry): void {
    this.#entries.add(entry);
    if (entry.byteLength === 0) return;
    this.#liveCount++;
    this.#liveBytes += entry.byteLength;
    if (this.#liveBytes > this.#peakBytes) this.#peakBytes = this.#liveBytes;
  }

  /** Removes an object that was given back. */
  remove(entry: LedgerEntry): void {
    if (!this.#entries.delete(entry) || entry.byteLength === 0) return;
    this.#liveCount--;
    this.#liveBytes -= entry.byteLength;
  }

  /** Notes that a live object holds another number of bytes than before. */
  recount(entry: LedgerEntry, formerBytes: number): void {
    if (!this.#entries.has(entry)) return;
    if (formerBytes > 0) this.#liveCount--;
    if (entry.byteLength > 0) this.#liveCount++;
    this.#liveBytes += entry.byteLength - formerBytes;
    if (this.#liveBytes > this.#peakBytes) this.#peakBytes = this.#liveBytes;
  }

  /** Bytes held by live allocations, on the device and on the host. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** How many live allocations hold bytes. */
  get liveCount(): number {
    return this.#liveCount;
  }

  /** Bytes that caches keep for reuse. */
  get cachedBytes(): number {
    let bytes = 0;
    for (const cache of this.caches) bytes += cache.byteLength;
    return bytes;
  }

  /** The most bytes that were held at once. */
  get peakBytes(): number {
    return this.#peakBytes;
  }

  /** All live objects, oldest first. */
  entries(): LedgerEntry[] {
    return [...this.#entries];
  }

  /** The `count` largest allocations, largest first. */
  largest(count: number): LedgerEntry[] {
    const top: LedgerEntry[] = [];
    for (const entry of this.#entries) {
      if (entry.byteLength === 0) continue;
      const at = top.findIndex((other) => other.byteLength < entry.byteLength);
      if (at === -1) top.push(entry);
      else top.splice(at, 0, entry);
      if (top.length > count) top.pop();
    }
    return top;
  }
}

/** Says once what the garbage collector found undisposed. */
export function warnUndisposed(entry: LedgerEntry): void {
  const origin = entry.origin === undefined ? "" : ` made at ${entry.origin}`;
  console.warn(
    `vramkit: ${nameOf(entry)} (${
      formatBytes(entry.byteLength)
    } of ${entry.kind} memory)${origin} ` +
      `was garbage-collected, not disposed; use "using", dispose() or gpu.scope()`,
  );
}
