// The pages of memory that nobody has touched: to make one takes longer than to fill it. Making them
// changes no byte, so it does not matter whether somebody uses the memory already.

import { roundUp } from "../../ffi/alignment.ts";
import { findHost, type HostApi, MADV } from "../../ffi/host.ts";
import { addressOf, type HostBytes } from "../memory/host_memory.ts";
import { CAN_BE_TERMINATED } from "../order/waiting.ts";
import { giveThreadBack, startThreads, takeThread } from "./lent_threads.ts";

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

/** Parts of memory whose pages are made at once, each by a thread that the runtime lends, or by a lane. */
const MOST_PARTS = 8;
const LANE_PARTS = 16;

/** Fewer pages are made by one thread in the time in which others start. */
const SHARED_FROM_BYTES = 2 * HUGE_PAGE_BYTES;

/** A part of some memory. */
export interface MemoryPart {
  /** Its address. */
  readonly address: bigint;
  /** Number of bytes. */
  readonly byteLength: number;
}

/** Threads that make pages, such as lanes. */
export interface PageMaker {
  /** Has the pages of memory made, by a thread for each part. */
  makePages(parts: readonly MemoryPart[]): void;
}

/** Choice of who makes pages at once. */
export interface PageHelp {
  /** Whether the runtime's threads may help, for callers that wait for them before they return. */
  readonly hasHelp?: boolean;
}

/** Calls that threads have begun and not told of yet. */
const underWay = new Set<Promise<unknown>>();

/** Time after which a lent thread has made its part, unless the system stopped it. */
const PATIENCE_MILLISECONDS = 20;

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
  const host = findHost();
  if (host !== undefined) askForHugePagesAt(host, addressOf(bytes), bytes.byteLength);
}

/** Asks for pages of 2 MiB for memory at an address, as far as such pages lie within it. */
export function askForHugePagesAt(host: HostApi, address: bigint, byteLength: number): void {
  const [start, end] = innerRange(address, BigInt(byteLength), BigInt(HUGE_PAGE_BYTES));
  if (start < end) host.madvise(start, end - start, MADV.HUGEPAGE);
}

/** Returns the part of a range that begins and ends at multiples of a size. */
export function innerRange(address: bigint, byteLength: bigint, step: bigint): [bigint, bigint] {
  return [(address + step - 1n) / step * step, (address + byteLength) / step * step];
}

/**
 * Makes the pages of an array, and blocks meanwhile; with the help of other threads for callers that wait
 * for {@link threadsBack}, as a program that blocks never does.
 */
export function makePagesSync(bytes: HostBytes, { hasHelp = false }: PageHelp = {}): void {
  if (bytes.byteLength >= 2 * HUGE_PAGE_BYTES) askForHugePages(bytes);
  const start = toNext(PAGE_BYTES, addressOf(bytes));
  const host = findHost();
  if (host === undefined || start >= bytes.byteLength) return;
  makePagesNow(host, addressOf(bytes) + BigInt(start), bytes.byteLength - start, { hasHelp });
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
  const partBytes = roundUp(wanted, step);
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

/**
 * Makes the pages of memory that begins at a page, on this thread and on some of the runtime's. They are
 * there when it returns; where the system makes none at once, whoever touches them makes them.
 */
export function makePagesNow(
  host: HostApi,
  address: bigint,
  byteLength: number,
  { hasHelp = true }: PageHelp = {},
): void {
  const parts = !hasHelp || byteLength < SHARED_FROM_BYTES
    ? [{ address, byteLength }]
    : pageParts(address, byteLength, MOST_PARTS);
  const [own, ...others] = parts;
  if (own === undefined) return;
  prepareThreads(others.length);
  const lent = others.map((part) => ({ part, giveBack: lendFor(host, part) }));
  const end = performance.now() + PATIENCE_MILLISECONDS;
  if (populate(host, own) !== 0) return;
  for (const { part, giveBack } of lent) {
    while (giveBack !== undefined && !isThere(host, part) && performance.now() < end);
    giveBack?.(); // it is on its way back
    if (!isThere(host, part)) populate(host, part);
  }
}

function populate(host: HostApi, { address, byteLength }: MemoryPart): number {
  return host.madvise(address, BigInt(byteLength), MADV.POPULATE_WRITE);
}

/** Returns the number of calls that threads have begun and not told of yet. */
export function threadsAway(): number {
  return underWay.size;
}

/**
 * Resolves when the threads are back that made pages for calls that have returned; undefined when none is
 * away. A program that has awaited its calls leaves nothing under way.
 */
export function threadsBack(): Promise<unknown> | undefined {
  return underWay.size === 0 ? undefined : Promise.all(underWay);
}

/** Starts threads that work together, where they are not there, as {@link startThreads} does. */
export function prepareThreads(count: number): void {
  const started = startThreads(count);
  if (started !== undefined) noteUnderWay(started);
}

function noteUnderWay(work: Promise<unknown>): void {
  underWay.add(work);
  work.finally(() => underWay.delete(work));
}

/**
 * Cuts memory into at most `mostParts` parts, each for a thread that makes its pages: where large pages
 * begin, so that no two threads make the same one.
 */
export function pageParts(
  address: bigint,
  byteLength: number,
  mostParts: number = LANE_PARTS,
): MemoryPart[] {
  const end = address + BigInt(byteLength);
  const firstPage = address - address % BigInt(HUGE_PAGE_BYTES);
  const step = BigInt(roundUp(Number(end - firstPage) / mostParts, HUGE_PAGE_BYTES));
  const parts: MemoryPart[] = [];
  let start = address - address % BigInt(PAGE_BYTES);
  for (let next = firstPage + step; start < end; next += step) {
    const stop = next < end ? next : end;
    parts.push({ address: start, byteLength: Number(stop - start) });
    start = stop;
  }
  return parts;
}

/** Has another thread make pages. Returns what gives it back before a turn; undefined when none is free. */
function lendFor(
  host: HostApi,
  { address, byteLength }: MemoryPart,
): (() => void) | undefined {
  if (CAN_BE_TERMINATED || !takeThread()) return undefined;
  let isBack = false;
  const giveBack = () => {
    if (!isBack) giveThreadBack();
    isBack = true;
  };
  const making = host.madviseAtNonblocking(address, BigInt(byteLength), MADV.POPULATE_WRITE);
  noteUnderWay(making.finally(giveBack));
  return giveBack;
}

/** Returns whether the last page of a part is there: they are made in the order of their addresses. */
function isThere(host: HostApi, { address, byteLength }: MemoryPart): boolean {
  const last = address + BigInt(byteLength - 1);
  const page = last - last % BigInt(PAGE_BYTES);
  return host.mincore(page, BigInt(PAGE_BYTES), PAGE_STATE) === 0 &&
    ((PAGE_STATE[0] ?? 0) & 1) === 1;
}

/** Returns the bytes from an address to the next multiple of a size. */
function toNext(size: number, address: bigint): number {
  const over = Number(address % BigInt(size));
  return over === 0 ? 0 : size - over;
}
