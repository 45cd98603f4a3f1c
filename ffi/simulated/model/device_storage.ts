// Bytes of device memory, made when they are first written, in chunks.
// An allocation of many gigabytes costs nothing until it is touched.

import { AccessHistory } from "./access_history.ts";
import { type ByteRange, ByteRanges } from "./byte_ranges.ts";
import type { Intent, Storage } from "./storage.ts";

const CHUNK_BYTES = 1 << 20;
/** Contents of a chunk that was only ever filled with zeros. */
const ZEROS = new Uint8Array(CHUNK_BYTES);

export class DeviceStorage implements Storage {
  readonly byteLength: number;
  readonly onHost = false;
  readonly isNeeded = false;
  /** Other processes may write it unseen, so that all of it counts as written. */
  readonly #isOpenToOthers: boolean;
  #history: AccessHistory | undefined;
  #written: ByteRanges | undefined;
  #chunks: (Uint8Array | undefined)[] | undefined;
  /** The bytes, once another process can reach them. */
  #shared: Uint8Array | undefined;

  constructor(byteLength: number, { isOpenToOthers = false } = {}) {
    this.byteLength = byteLength;
    this.#isOpenToOthers = isOpenToOthers;
  }

  /** Holds bytes of another process: its writes cannot be seen from here, so all counts as written. */
  static over(bytes: Uint8Array): DeviceStorage {
    const storage = new DeviceStorage(bytes.byteLength);
    storage.shareOver(bytes);
    return storage;
  }

  // Everything is made on first use: a million small allocations must stay cheap.
  get history(): AccessHistory {
    return this.#history ??= new AccessHistory();
  }

  /** Moves the contents to where other processes see them; from here on all counts as written. */
  shareOver(bytes: Uint8Array): void {
    this.#chunks?.forEach((chunk, index) => chunk && bytes.set(chunk, index * CHUNK_BYTES));
    this.#chunks = undefined;
    this.#written = undefined;
    this.#shared = bytes;
  }

  span(offset: number, maxBytes: number, intent: Intent): Uint8Array {
    if (this.#shared !== undefined) return this.#shared.subarray(offset, offset + maxBytes);
    const index = Math.floor(offset / CHUNK_BYTES);
    const start = offset - index * CHUNK_BYTES;
    const end = Math.min(start + maxBytes, CHUNK_BYTES);
    return (intent === "write" ? this.#makeChunk(index) : this.#chunks?.[index] ?? ZEROS)
      .subarray(start, end);
  }

  zero(offset: number, byteLength: number): void {
    const end = offset + byteLength;
    this.#shared?.fill(0, offset, end);
    while (offset < end) {
      const index = Math.floor(offset / CHUNK_BYTES);
      const stop = Math.min(end, (index + 1) * CHUNK_BYTES);
      const base = index * CHUNK_BYTES;
      this.#chunks?.[index]?.fill(0, offset - base, stop - base);
      offset = stop;
    }
  }

  firstUnwritten(start: number, end: number): number | undefined {
    if (this.#isOpenToOthers || this.#shared !== undefined) return undefined;
    if (this.#written === undefined) return start < end ? start : undefined;
    return this.#written.firstGap(start, end);
  }

  markWritten(ranges: readonly ByteRange[]): void {
    if (this.#isOpenToOthers || this.#shared !== undefined) return;
    this.#written ??= new ByteRanges();
    const [first] = ranges;
    if (ranges.length > 1) this.#written.addAll(ranges);
    else if (first !== undefined) this.#written.add(first.start, first.end);
  }

  clear(): void {
    this.#written = undefined;
    this.#chunks = undefined;
  }

  watch(): undefined {
    return undefined;
  }

  #makeChunk(index: number): Uint8Array {
    this.#chunks ??= [];
    const existing = this.#chunks[index];
    if (existing !== undefined) return existing;
    const size = Math.min(CHUNK_BYTES, this.byteLength - index * CHUNK_BYTES);
    return this.#chunks[index] = new Uint8Array(size);
  }
}
