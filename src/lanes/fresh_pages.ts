// The pages of memory that nobody has touched: to make one takes longer than to fill it. Making them
// changes no byte, so it does not matter whether somebody uses the memory already.

import { findHost, type HostApi, MADV, MALLOPT, pageBytes } from "../../ffi/host.ts";
import { addressOf, type HostBytes } from "../memory/host_memory.ts";
import {
  HUGE_PAGE_BYTES,
  MAX_HEAP_BLOCK_BYTES,
  MIN_FRESH_BYTES,
  PAGE_LOOKS,
} from "../transfer/ways.ts";

const PAGE_STATE = new Uint8Array(1);

/** Returns whether most of an array's pages are missing, because nothing has touched them yet. */
export function isUntouched(bytes: HostBytes): boolean {
  const { byteLength } = bytes;
  if (byteLength < MIN_FRESH_BYTES) return false;
  const host = findHost();
  if (host === undefined) return false;
  const size = BigInt(pageBytes());
  const address = addressOf(bytes);
  const lookCount = byteLength < HUGE_PAGE_BYTES ? 1 : PAGE_LOOKS;
  let missingCount = 0;
  for (let look = 0; look < lookCount; look++) {
    const at = address + BigInt(Math.floor((2 * look + 1) * byteLength / (2 * lookCount)));
    if (host.mincore(at - at % size, size, PAGE_STATE) !== 0) return false;
    if (((PAGE_STATE[0] ?? 1) & 1) === 0) missingCount++;
  }
  return 2 * missingCount > lookCount;
}

/** Asks for pages of 2 MiB, which more than doubles the speed of filling fresh memory (madvise). */
export function askForHugePages(bytes: HostBytes): void {
  const host = findHost();
  if (host === undefined) return;
  const address = addressOf(bytes);
  const step = BigInt(HUGE_PAGE_BYTES);
  const start = (address + step - 1n) / step * step;
  const end = (address + BigInt(bytes.byteLength)) / step * step;
  if (start < end) host.madvise(start, end - start, MADV.HUGEPAGE);
}

/** Makes the pages of an array, and blocks meanwhile; kernels before 5.14 make none. */
export function makePages(bytes: HostBytes): void {
  const host = findHost();
  if (host === undefined) return;
  askForHugePages(bytes);
  makePagesAt(host, addressOf(bytes), bytes.byteLength);
}

/** Makes the pages of memory at an address, and of the rest of its first page. */
export function makePagesAt(host: HostApi, address: bigint, byteLength: number): void {
  const before = address % BigInt(pageBytes());
  host.madvise(address - before, BigInt(byteLength) + before, MADV.POPULATE_WRITE);
}

/** Set once the heap was told to keep memory. */
let keepsMemory = false;

/**
 * Sets, when the first array of 64 KiB is made, what the heap sets by itself once a program has freed a
 * block of 32 MiB: it maps smaller ones no more, each with new pages, and does not give the pages of freed
 * ones back at once (mallopt). Otherwise a download of 256 KiB takes four times as long.
 */
export function keepFreedMemory(): void {
  if (keepsMemory) return;
  keepsMemory = true;
  const host = findHost();
  host?.mallopt(MALLOPT.MMAP_THRESHOLD, MAX_HEAP_BLOCK_BYTES);
  host?.mallopt(MALLOPT.TRIM_THRESHOLD, 2 * MAX_HEAP_BLOCK_BYTES);
}
