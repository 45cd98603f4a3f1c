// Pages for new arrays, which come from the C library's heap: made ahead, many at a time. One at a time,
// when an array is first touched, they take three times as long, and longer than to fill the array.

import { findHost, MADV } from "../../ffi/host.ts";
import { HUGE_PAGE_BYTES, PAGE_BYTES } from "./fresh_pages.ts";

/** Fewer bytes gain little: many arrays share what the heap has. */
const FEWEST_BYTES = 2 ** 16;

/** The pages of larger arrays are made for each, by several threads. */
const MOST_BYTES = 4 * 2 ** 20;

/** Memory that has its pages before a program makes its first arrays: a few of them pay for no more. */
const FIRST_BYTES = 2 ** 21;

/** Memory that gets its pages at a time, once a program has made arrays of the first. */
const AHEAD_BYTES = 8 * 2 ** 20;

/** Size of the blocks whose pages are made before it is known how large arrays are. */
const FIRST_BLOCK_BYTES = 2 ** 18;

/** Bytes of new arrays after which the heap is looked at again, when its next block has its pages. */
const LOOK_BYTES = 2 ** 18;

/** Bytes that new arrays may still take before the heap is looked at. */
let leftBytes = 0;
let nextBytes = FIRST_BYTES;
let isRefused = false;

const PAGE_STATE = new Uint8Array(1);

/** The heap and the pages of the host. */
type Heap = NonNullable<ReturnType<typeof findHost>>;

/** A part of the address space. */
interface Run {
  readonly start: bigint;
  readonly end: bigint;
}

/**
 * Makes the next pages of the heap, when the program is about to make a new array, or has made one,
 * and the block that the heap gives next has none. The memory stays the heap's: what is freed is used
 * again, and what the collector frees has its pages.
 */
export function prepareHeap(byteLength: number): void {
  if (byteLength < FEWEST_BYTES || byteLength > MOST_BYTES || isRefused) return;
  leftBytes -= byteLength;
  if (leftBytes >= 0) return;
  const host = findHost();
  if (host === undefined) return;
  const isThere = hasNextPages(host, byteLength);
  leftBytes = (isThere ? LOOK_BYTES : nextBytes) - byteLength;
  if (isThere) return;
  makeNextPages(host, nextBytes, byteLength);
  nextBytes = AHEAD_BYTES;
}

/** Makes the pages of a program's first new arrays, in about a millisecond. */
export function prepareFirstPages(): void {
  const host = findHost();
  if (host !== undefined) makeNextPages(host, FIRST_BYTES, FIRST_BLOCK_BYTES);
}

/** Returns whether the next block of a size has its pages, as far as the one in its middle tells. */
function hasNextPages(host: Heap, byteLength: number): boolean {
  const address = host.malloc(BigInt(byteLength));
  const isThere = hasPage(host, address + BigInt(byteLength) / 2n);
  host.free(address);
  return isThere === true;
}

/** Returns whether there is a page at an address; undefined where there is no memory. */
function hasPage(host: Heap, address: bigint): boolean | undefined {
  const page = address - address % BigInt(PAGE_BYTES);
  if (host.mincore(page, BigInt(PAGE_BYTES), PAGE_STATE) !== 0) return undefined;
  return ((PAGE_STATE[0] ?? 0) & 1) === 1;
}

/**
 * Makes the pages of the blocks of a size that the heap gives next: those that were freed before, and
 * then new ones.
 */
function makeNextPages(host: Heap, wantedBytes: number, blockBytes: number): void {
  // The first block of this size is mapped by itself; once it is freed, the heap serves such sizes.
  host.free(host.malloc(BigInt(AHEAD_BYTES)));
  const size = BigInt(blockBytes);
  const blocks: bigint[] = [];
  for (let taken = 0; taken < wantedBytes; taken += blockBytes) blocks.push(host.malloc(size));
  const runs = runsOf(blocks, size);
  for (const run of runs) makePages(host, run);
  for (const block of blocks) host.free(block);
  const first = runs[0];
  if (first === undefined) return;
  // Such a heap gives freed memory back to the system.
  isRefused = hasPage(host, (first.start + first.end) / 2n) !== true;
}

/** Joins blocks that lie side by side, but for what the heap notes between them. */
function runsOf(blocks: readonly bigint[], size: bigint): Run[] {
  const runs: { start: bigint; end: bigint }[] = [];
  for (const start of blocks.toSorted((a, b) => a < b ? -1 : 1)) {
    const last = runs.at(-1);
    if (last !== undefined && start - last.end < BigInt(PAGE_BYTES)) last.end = start + size;
    else runs.push({ start, end: start + size });
  }
  return runs;
}

function makePages(host: Heap, run: Run): void {
  const huge = innerRun(run, BigInt(HUGE_PAGE_BYTES));
  if (huge.end > huge.start) host.madvise(huge.start, huge.end - huge.start, MADV.HUGEPAGE);
  const pages = innerRun(run, BigInt(PAGE_BYTES));
  if (pages.end <= pages.start) return;
  host.madvise(pages.start, pages.end - pages.start, MADV.POPULATE_WRITE);
}

/** Returns the part of a run that begins and ends at multiples of a size. */
function innerRun({ start, end }: Run, step: bigint): Run {
  return { start: (start + step - 1n) / step * step, end: end / step * step };
}
