// Bytes of real host memory: page-locked, registered, managed, or an ordinary array for one copy.
// The host can change them at any time, so queued operations watch what they were.

import { AccessHistory, endOf, type Extent, overlap } from "./access_history.ts";
import type { ByteRange } from "./byte_ranges.ts";
import type { HostWatch, Storage } from "./storage.ts";

/** Up to this size a watch looks at every byte. */
const FULL_WATCH_BYTES = 1 << 20;
/** Of a larger range, a watch looks at both ends and at samples between them. */
const SAMPLE_BYTES = 4096;
const SAMPLE_COUNT = 64;

/** A watch that takes what an operation writes for unchanged. */
interface Watch extends HostWatch {
  readonly extent: Extent;
  refresh(): void;
}

/** Holds bytes that JavaScript arrays can see. */
export class HostStorage implements Storage {
  readonly onHost = true;
  readonly history: AccessHistory = new AccessHistory();
  #bytes: Uint8Array;
  #watches = new Set<Watch>();

  /** Uses existing bytes, and keeps them alive. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isNeeded(): boolean {
    return this.#watches.size > 0;
  }

  span(offset: number, maxBytes: number): Uint8Array {
    return this.#bytes.subarray(offset, offset + maxBytes);
  }

  zero(offset: number, byteLength: number): void {
    this.#bytes.fill(0, offset, offset + byteLength);
  }

  /** Finds nothing: the host's writes cannot be seen, so all bytes count as written. */
  firstUnwritten(): undefined {
    return undefined;
  }

  markWritten(ranges: readonly ByteRange[]): void {
    // An earlier operation's write is not a change by the host for later operations.
    for (const watch of this.#watches) {
      const isWritten = ranges.some(({ start, end }) =>
        overlap(watch.extent, { start, widthBytes: end - start, pitchBytes: 0, rowCount: 1 })
      );
      if (isWritten) watch.refresh();
    }
  }

  /** Compares a fingerprint of now with the bytes when an operation runs. */
  watch(extent: Extent): HostWatch {
    let before = fingerprint(this.#bytes, extent);
    const watch: Watch = {
      extent,
      isIntact: () => fingerprint(this.#bytes, extent) === before,
      refresh: () => before = fingerprint(this.#bytes, extent),
      release: () => this.#watches.delete(watch),
    };
    this.#watches.add(watch);
    return watch;
  }
}

function fingerprint(bytes: Uint8Array, extent: Extent): number {
  const { start, widthBytes, pitchBytes, rowCount } = extent;
  const sampled = widthBytes * rowCount > FULL_WATCH_BYTES;
  let hash = 0;
  for (let row = 0; row < rowCount; row++) {
    const rowStart = start + row * pitchBytes;
    hash = sampled && rowCount === 1
      ? hashSamples(hash, bytes, rowStart, endOf(extent))
      : hashRange(hash, bytes, rowStart, rowStart + widthBytes);
  }
  return hash;
}

function hashSamples(hash: number, bytes: Uint8Array, start: number, end: number): number {
  const stride = (end - start - SAMPLE_BYTES) / (SAMPLE_COUNT - 1);
  for (let i = 0; i < SAMPLE_COUNT; i++) {
    const sample = start + Math.floor(i * stride);
    hash = hashRange(hash, bytes, sample, sample + SAMPLE_BYTES);
  }
  return hash;
}

function hashRange(hash: number, bytes: Uint8Array, start: number, end: number): number {
  const address = bytes.byteOffset + start;
  const lead = end - start < 8 ? end - start : (4 - address % 4) % 4;
  const wordCount = (end - start - lead) >>> 2;
  for (let i = start; i < start + lead; i++) hash = mix(hash, bytes[i] ?? 0);
  if (wordCount > 0) {
    const words = new Int32Array(bytes.buffer, address + lead, wordCount);
    for (let i = 0; i < words.length; i++) hash = mix(hash, words[i] ?? 0);
  }
  for (let i = start + lead + wordCount * 4; i < end; i++) hash = mix(hash, bytes[i] ?? 0);
  return hash;
}

function mix(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}
