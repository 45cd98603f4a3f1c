// Pages for new arrays, which come from the C library's heap: made ahead, many at a time. One at a time,
// when an array is first touched, they take three times as long, and longer than to fill the array.

import { findHost, MADV } from "../../ffi/host.ts";
import { HUGE_PAGE_BYTES, PAGE_BYTES } from "./fresh_pages.ts";

/** Fewer bytes gain little: many arrays share what the heap has. */
const FEWEST_BYTES = 2 ** 16;

/** The pages of larger arrays are made for each, by several threads. */
const MOST_BYTES = 4 * 2 ** 20;

/** Memory that has its pages before arrays are made of it. */
const AHEAD_BYTES = 8 * 2 ** 20;

/** Bytes that new arrays take before the heap is looked at first: a few arrays do not pay for it. */
const FIRST_BYTES = 2 ** 21;

/** Bytes that they may still take. */
let leftBytes = FIRST_BYTES;
let isRefused = false;

const PAGE_STATE = new Uint8Array(1);

/**
 * Makes the next pages of the heap, when the program is about to make a new array, or has made one,
 * and arrays have taken those that were made before. The memory stays the heap's: what is freed is
 * used again, and what the collector frees has its pages.
 */
export function prepareHeap(byteLength: number): void {
  if (byteLength < FEWEST_BYTES || byteLength > MOST_BYTES || isRefused) return;
  leftBytes -= byteLength;
  if (leftBytes >= 0) return;
  leftBytes = AHEAD_BYTES - byteLength;
  makeNextPages();
}

/** Forgets the arrays that were made so far. */
export function forgetHeap(): void {
  leftBytes = FIRST_BYTES;
}

function makeNextPages(): void {
  const host = findHost();
  if (host === undefined) return;
  const size = BigInt(AHEAD_BYTES);
  // The first block of this size is mapped by itself; once it is freed, the heap serves such sizes.
  host.free(host.malloc(size));
  const address = host.malloc(size);
  host.free(address);
  const middle = address + size / 2n;
  if (host.mincore(middle - middle % BigInt(PAGE_BYTES), BigInt(PAGE_BYTES), PAGE_STATE) !== 0) {
    isRefused = true; // the heap gives freed memory back to the system
    return;
  }
  if (((PAGE_STATE[0] ?? 1) & 1) === 1) return;
  const [start, end] = innerRange(address, size, BigInt(HUGE_PAGE_BYTES));
  host.madvise(start, end - start, MADV.HUGEPAGE);
  const [first, last] = innerRange(address, size, BigInt(PAGE_BYTES));
  host.madvise(first, last - first, MADV.POPULATE_WRITE);
}

/** Returns the part of a range that begins and ends at multiples of a size. */
function innerRange(address: bigint, byteLength: bigint, step: bigint): [bigint, bigint] {
  return [(address + step - 1n) / step * step, (address + byteLength) / step * step];
}
