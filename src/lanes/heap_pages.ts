// Pages for new arrays, which come from the C library's heap: made ahead, many at a time. One at a time,
// when an array is first touched, they take three times as long, and longer than to fill the array.

import { findHost, type HostApi, MALLOPT } from "../../ffi/host.ts";
import { addressOf, type HostBytes } from "../memory/host_memory.ts";
import {
  askForHugePagesAt,
  innerRange,
  makePagesNow,
  PAGE_BYTES,
  type PageHelp,
  type PageMaker,
  pageParts,
} from "./fresh_pages.ts";

/** Fewer bytes gain little: many arrays share what the heap has. */
const FEWEST_BYTES = 2 ** 16;

/** The pages of larger arrays are made for each, by several threads. */
const MOST_BYTES = 4 * 2 ** 20;

/** Arrays of the first size whose pages are made at a time: two of them already pay for that. */
const FIRST_COUNT = 3;

/** Bytes whose pages are made at a time, at most; one thread makes less the first times, and doubles. */
const AHEAD_BYTES = 8 * 2 ** 20;

/** Where more are wanted, several threads make {@link AHEAD_BYTES} in the same time. */
const FEW_BYTES = 2 ** 20;

/** Smaller blocks are filled as fast as they are warmed; of larger ones a core's cache keeps too little. */
const FEWEST_WARM_BYTES = 2 ** 14;
const MOST_WARM_BYTES = 2 ** 20;

/** Bytes that a core warms until the copy engine begins, and the bytes that this moves for each one more. */
const FIRST_WARM_BYTES = 3 * 2 ** 14;
const MOVED_BYTES = 10;

/** Bytes whose pages are made before the first arrays: the collector gives most of them back in time. */
const FIRST_BYTES = 3 * AHEAD_BYTES;

/** Bytes of arrays between two looks, which take a microsecond or two. */
const LOOK_BYTES = 2 ** 18;

/** From this size on the heap maps a block apart, at the most that the C library allows. */
const MOST_HEAP_BYTES = 32 * 2 ** 20;

/** Freed bytes that the heap keeps at its end: twice the other threshold, as it sets by itself. */
const KEPT_BYTES = 2 * MOST_HEAP_BYTES;

/** Set once {@link widenHeap} was called. */
let isWidened = false;
/** Bytes whose pages were made the last time. */
let madeBytes = 0;
/** Bytes of arrays until the next look. */
let unseenBytes = 0;
/** Looks in a row at which the system did not tell which pages are there. */
let unknownCount = 0;
/** The array that was filled last. */
let lastBytes = 0;
let lastAddress = 0n;

/** One page of so many may be missing. */
const MOST_MISSING = 16;

/** A system that so often in a row did not tell which pages are there never does. */
const MOST_UNKNOWN = 8;

const PAGE_STATES = new Uint8Array(FIRST_BYTES / PAGE_BYTES);

/** Circumstances of a new array. */
interface HeapWork extends PageHelp {
  /** Whether the pages of the array before it were missing. */
  readonly isMissing?: boolean;
  /** Lanes that are awake: they make pages that come later, and this thread goes on. */
  readonly lanes?: PageMaker | undefined;
}

/**
 * Looks where the heap would place a new array, when the program is about to make one, or has made one,
 * and makes the pages there and at the heap's end when they are missing. The memory stays the heap's: what
 * is freed is used again, and what the collector frees has its pages.
 */
export function prepareHeap(
  byteLength: number,
  { isMissing = false, lanes, hasHelp = false }: HeapWork = {},
): void {
  if (byteLength < FEWEST_BYTES || byteLength > MOST_BYTES || unknownCount >= MOST_UNKNOWN) return;
  unseenBytes -= byteLength;
  if (unseenBytes > 0 && !isMissing) return;
  unseenBytes = LOOK_BYTES;
  const host = findHost();
  if (host === undefined) return;
  if (madeBytes > 0 && lookAt(host, nextBlock(host, byteLength), byteLength) === "there") return;
  if (!isWidened) widenHeap(host);
  const wantedBytes = Math.max(2 * madeBytes, FIRST_COUNT * byteLength);
  const isShared = hasHelp || lanes !== undefined;
  madeBytes = isShared && wantedBytes > FEW_BYTES
    ? AHEAD_BYTES
    : Math.min(wantedBytes, AHEAD_BYTES);
  const end = nextBlock(host, madeBytes);
  const next = nextBlock(host, byteLength);
  if (next !== end && lookAt(host, next, byteLength) === "missing") {
    makePagesAt(host, next, byteLength, { hasHelp });
  }
  const pages = lookAt(host, end, madeBytes);
  if (pages === "missing") makePagesAt(host, end, madeBytes, { lanes, hasHelp });
  unknownCount = pages === "unknown" ? unknownCount + 1 : 0;
}

/**
 * Makes pages for a program's first arrays, 24 MiB at the heap's end, by several threads. They take a
 * millisecond, and the first arrays three times as long without them.
 */
export function prepareHeapAhead(): void {
  const host = findHost();
  if (host === undefined) return;
  if (!isWidened) widenHeap(host);
  const address = nextBlock(host, FIRST_BYTES);
  if (address === 0n || lookAt(host, address, FIRST_BYTES) !== "missing") return;
  makePagesAt(host, address, FIRST_BYTES, { hasHelp: true });
}

/** Prepares the heap for the next array, where a program downloads into one new array after another. */
export function noteDestination(
  bytes: HostBytes,
  { isFresh, ...how }: { readonly isFresh: boolean } & Omit<HeapWork, "isMissing">,
): void {
  const { byteLength } = bytes;
  if (byteLength < FEWEST_BYTES || byteLength > MOST_BYTES) return;
  const address = addressOf(bytes);
  const isOther = byteLength === lastBytes && address !== lastAddress;
  [lastBytes, lastAddress] = [byteLength, address];
  if (isFresh || isOther) prepareHeap(byteLength, { isMissing: isFresh, ...how });
}

/** Forgets the arrays that were made so far. */
export function forgetHeap(): void {
  madeBytes = unseenBytes = lastBytes = 0;
}

/**
 * Sets what the heap sets by itself once a program has freed a block of 32 MiB: it maps smaller ones no
 * more, each with new pages, and does not give the pages of freed ones back at once.
 */
export function widenHeap(host: HostApi): void {
  host.mallopt(MALLOPT.MMAP_THRESHOLD, MOST_HEAP_BYTES);
  host.mallopt(MALLOPT.TRIM_THRESHOLD, KEPT_BYTES);
  isWidened = true;
}

/**
 * Brings the beginning of the block that the heap gives next into this core's cache, as much of it as the
 * copy engine leaves time for: a warm block is filled in a third of the time.
 */
export function warmNextBlock(byteLength: number): void {
  if (byteLength < FEWEST_WARM_BYTES || byteLength > MOST_WARM_BYTES) return;
  const host = findHost();
  if (host === undefined) return;
  const address = host.malloc(BigInt(byteLength));
  if (address === 0n) return;
  const warmBytes = Math.min(byteLength, FIRST_WARM_BYTES + Math.floor(byteLength / MOVED_BYTES));
  host.memset(address, 0, BigInt(warmBytes));
  host.free(address);
}

/** Returns the address of the block that the heap gives next. */
function nextBlock(host: HostApi, byteLength: number): bigint {
  const address = host.malloc(BigInt(byteLength));
  host.free(address);
  return address;
}

/**
 * Asks the system for the pages of a block: nearly all are there, or some are missing. It does not know
 * those of a block that the heap gave back to it.
 */
function lookAt(
  host: HostApi,
  address: bigint,
  byteLength: number,
): "there" | "missing" | "unknown" {
  const [start, end] = innerRange(address, BigInt(byteLength), BigInt(PAGE_BYTES));
  if (host.mincore(start, end - start, PAGE_STATES) !== 0) return "unknown";
  const pageCount = Number(end - start) / PAGE_BYTES;
  // A loop that is not compiled yet takes 40 microseconds for 3 MiB.
  if (!PAGE_STATES.subarray(0, pageCount).includes(0)) return "there";
  let missingCount = 0;
  for (let page = 0; page < pageCount; page++) {
    if (((PAGE_STATES[page] ?? 1) & 1) === 0) missingCount++;
  }
  return MOST_MISSING * missingCount <= pageCount ? "there" : "missing";
}

function makePagesAt(
  host: HostApi,
  address: bigint,
  byteLength: number,
  { lanes, hasHelp = false }: Omit<HeapWork, "isMissing">,
): void {
  askForHugePagesAt(host, address, byteLength);
  if (lanes !== undefined) return lanes.makePages(pageParts(address, byteLength));
  const [start, end] = innerRange(address, BigInt(byteLength), BigInt(PAGE_BYTES));
  if (start < end) makePagesNow(host, start, Number(end - start), { hasHelp });
}
