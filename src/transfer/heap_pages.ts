// Pages for new arrays, which come from the C library's heap: made ahead, many at a time. One at a time,
// when an array is first touched, they take three times as long, and longer than to fill the array.

import { findHost, type HostApi, MADV } from "../../ffi/host.ts";
import { HUGE_PAGE_BYTES, PAGE_BYTES } from "./fresh_pages.ts";

/** Fewer bytes gain little: many arrays share what the heap has. */
const FEWEST_BYTES = 2 ** 16;

/** The pages of larger arrays are made for each, by several threads. */
const MOST_BYTES = 4 * 2 ** 20;

/** Arrays of the first size whose pages are made at a time: two of them already pay for that. */
const FIRST_COUNT = 3;

/** Bytes whose pages are made at a time, at most; the first times are less, and double. */
const AHEAD_BYTES = 8 * 2 ** 20;

/** Bytes whose pages were made the last time. */
let madeBytes = 0;
/** Bytes of them that arrays may still take. */
let leftBytes = 0;
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
  madeBytes = Math.min(Math.max(2 * madeBytes, FIRST_COUNT * byteLength), AHEAD_BYTES);
  leftBytes = madeBytes - byteLength;
  makeNextPages(BigInt(madeBytes));
}

/** Forgets the arrays that were made so far. */
export function forgetHeap(): void {
  madeBytes = leftBytes = 0;
}

function makeNextPages(size: bigint): void {
  const host = findHost();
  if (host === undefined) return;
  // The first block of most bytes is mapped by itself; once it is freed, the heap serves all sizes.
  host.free(host.malloc(BigInt(AHEAD_BYTES)));
  const address = host.malloc(BigInt(AHEAD_BYTES));
  host.free(address);
  const middle = address + size / 2n;
  if (host.mincore(middle - middle % BigInt(PAGE_BYTES), BigInt(PAGE_BYTES), PAGE_STATE) !== 0) {
    isRefused = true; // the heap gives freed memory back to the system
    return;
  }
  if (((PAGE_STATE[0] ?? 1) & 1) === 1) return;
  advise(host, innerRange(address, size, BigInt(HUGE_PAGE_BYTES)), MADV.HUGEPAGE);
  advise(host, innerRange(address, size, BigInt(PAGE_BYTES)), MADV.POPULATE_WRITE);
}

/** Advises the system about a range of addresses, unless it is empty. */
function advise(host: HostApi, [start, end]: [bigint, bigint], advice: number): void {
  if (start < end) host.madvise(start, end - start, advice);
}

/** Returns the part of a range that begins and ends at multiples of a size. */
function innerRange(address: bigint, byteLength: bigint, step: bigint): [bigint, bigint] {
  return [(address + step - 1n) / step * step, (address + byteLength) / step * step];
}
