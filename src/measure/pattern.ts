// A seeded pattern of bytes, written and checked, so that bytes cannot be correct by accident.

import { builtin } from "../words/builtin.ts";

/** Bytes after which the pattern repeats; long enough to notice a block in the wrong place. */
export const PATTERN_BYTES = 2 ** 20;

/** A seed for measurements, each of which needs only one. */
export const PATTERN_SEED = 0x0badf00d;

/** Fills memory with a pattern that depends on `seed` (xorshift32). */
export function fillPattern(bytes: Uint8Array<ArrayBufferLike>, seed: number): void {
  const period = patternOf(seed);
  for (let start = 0; start < bytes.byteLength; start += PATTERN_BYTES) {
    bytes.set(period.subarray(0, Math.min(PATTERN_BYTES, bytes.byteLength - start)), start);
  }
}

/** Returns the index of the first byte that is not in the pattern of `seed`, or -1. */
export function findMismatch(bytes: Uint8Array<ArrayBufferLike>, seed: number): number {
  const { Buffer } = builtin("node:buffer");
  const period = patternOf(seed);
  for (let start = 0; start < bytes.byteLength; start += PATTERN_BYTES) {
    const part = bytes.subarray(start, start + PATTERN_BYTES);
    const expected = period.subarray(0, part.byteLength);
    if (Buffer.compare(part, expected) === 0) continue;
    return start + part.findIndex((byte, index) => byte !== expected[index]);
  }
  return -1;
}

function patternOf(seed: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(PATTERN_BYTES / 4);
  let state = (seed | 0) || 1;
  for (let i = 0; i < words.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[i] = state;
  }
  return new Uint8Array(words.buffer);
}
