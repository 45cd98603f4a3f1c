// The pages of memory that nobody has touched: to make one takes longer than to fill it. Making them
// changes no byte, so it does not matter whether somebody uses the memory already.

import { findHost, MADV } from "../../ffi/host.ts";
import { addressOf, type HostBytes } from "./host_memory.ts";
import { giveThreadBack, takeThread } from "./lent_threads.ts";

/** Size of a page. */
export const PAGE_BYTES = 4096;

/** Size of a large page. */
export const HUGE_PAGE_BYTES: number = 2 ** 21;

/** From this size on pages are looked at: below it they cost less than the looks. */
const SMALLEST_BYTES = 2 ** 16;

/** Pages that are looked at, evenly spread: one of a small array. */
const LOOKS = 4;
const MANY_LOOKS_BYTES = 2 ** 20;

/** Threads that make pages at a time: more of them wait for each other. */
const MOST_THREADS = 12;

/** Pages that one thread makes in the time of a call on another one. */
const FEWEST_BYTES = 2 ** 19;

const PAGE_STATE = new Uint8Array(1);

/** Returns whether most of an array's pages are missing, because nothing has touched them yet. */
export function isUntouched(bytes: HostBytes): boolean {
  const { byteLength } = bytes;
  if (byteLength < SMALLEST_BYTES) return false;
  const host = findHost();
  if (host === undefined) return false;
  const lookCount = byteLength < MANY_LOOKS_BYTES ? 1 : LOOKS;
  const address = addressOf(bytes);
  let missingCount = 0;
  for (let look = 0; look < lookCount; look++) {
    const at = address + BigInt(Math.floor((2 * look + 1) * byteLength / (2 * lookCount)));
    const page = at - at % BigInt(PAGE_BYTES);
    if (host.mincore(page, BigInt(PAGE_BYTES), PAGE_STATE) !== 0) return false;
    if (((PAGE_STATE[0] ?? 1) & 1) === 0) missingCount++;
  }
  return 2 * missingCount > lookCount;
}

/** Asks for pages of 2 MiB, which more than doubles the speed of filling fresh memory (madvise). */
export function askForHugePages(bytes: HostBytes): void {
  const start = toNext(HUGE_PAGE_BYTES, addressOf(bytes));
  const size = bytes.byteLength - start - (bytes.byteLength - start) % HUGE_PAGE_BYTES;
  if (size <= 0) return;
  findHost()?.madvise(addressOf(bytes) + BigInt(start), BigInt(size), MADV.HUGEPAGE);
}

/** Makes the pages of an array, on this thread. */
export function makePagesSync(bytes: HostBytes): void {
  if (bytes.byteLength >= 2 * HUGE_PAGE_BYTES) askForHugePages(bytes);
  const start = toNext(PAGE_BYTES, addressOf(bytes));
  if (start >= bytes.byteLength) return;
  const address = addressOf(bytes) + BigInt(start);
  findHost()?.madvise(address, BigInt(bytes.byteLength - start), MADV.POPULATE_WRITE);
}

/**
 * Makes the pages of an array on several threads of the runtime's, which keep its memory; resolves
 * when they are back. Kernels before 5.14 make none: then what fills the memory does.
 */
export async function makePages(bytes: HostBytes): Promise<void> {
  const isHuge = bytes.byteLength >= 2 * HUGE_PAGE_BYTES;
  if (isHuge) askForHugePages(bytes);
  const step = isHuge ? HUGE_PAGE_BYTES : PAGE_BYTES;
  const wanted = Math.max(FEWEST_BYTES, bytes.byteLength / MOST_THREADS);
  const partBytes = Math.ceil(wanted / step) * step;
  const threads: Promise<void>[] = [];
  let start = toNext(PAGE_BYTES, addressOf(bytes));
  // No two threads make the same page of 2 MiB.
  let end = toNext(step, addressOf(bytes)) + partBytes;
  while (start < bytes.byteLength && takeThread()) {
    threads.push(makePart(bytes.subarray(start, end)));
    [start, end] = [end, end + partBytes];
  }
  await Promise.all(threads);
}

async function makePart(part: HostBytes): Promise<void> {
  const size = BigInt(part.byteLength);
  try {
    await findHost()?.madviseNonblocking(part as BufferSource, size, MADV.POPULATE_WRITE);
  } finally {
    giveThreadBack();
  }
}

/** Returns the bytes from an address to the next multiple of a size. */
function toNext(size: number, address: bigint): number {
  const over = Number(address % BigInt(size));
  return over === 0 ? 0 : size - over;
}
