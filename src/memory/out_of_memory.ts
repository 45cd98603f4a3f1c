// The steps before an allocation fails: limits, trimmed caches, another try; and the error at the
// end, with all amounts and the largest holders.

import { lastId } from "../accounting/clock.ts";
import { keptBytesOf } from "../accounting/kept_memory.ts";
import { type LiveKind, nameOf, placeOf } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { take64 } from "../driver/driver.ts";
import { succeeds, tryRelease } from "../driver/release.ts";
import { collectLost, hurryCollector } from "../order/safety_net.ts";
import { withCallers } from "../words/callers.ts";
import {
  type CudaError,
  isOutOfMemory,
  MemoryLimitError,
  type MemoryShortage,
  OutOfMemoryError,
} from "../words/errors.ts";
import { type ByteSize, describeValue, parseBytes } from "../words/format.ts";
import { Parts } from "../words/parts.ts";
import type { MemoryAmounts, PersistedAmount } from "../words/shortage.ts";

/** The number of live buffers that an error names, largest first. */
const NAMED_BLOCKS = 5;

/** Fruitless garbage collections in a row, 15 milliseconds in all, before giving up. */
const FRUITLESS_COLLECTIONS = 3;

/** The pause after fruitless collections: it starts at this value and doubles each time. */
const REST_MILLISECONDS = 100;
const MAX_REST_MILLISECONDS = 10_000;

/** Selects the cached memory that a limit counts. */
const FOR_LIMIT = { isForLimit: true };

export interface MemoryNeed {
  readonly context: Context;
  readonly kind: LiveKind;
  readonly byteLength: number;
  /** It is more than the device has, and can lie nowhere else. */
  readonly isImpossible?: boolean;
}

/** Memory of a device that `gpu.limit()` limits. */
interface LimitedNeed extends MemoryNeed {
  readonly limitBytes: number;
}

/** Reads what is persisted on a device. */
let persistedOn: (context: Context) => PersistedAmount | undefined = () => undefined;

/** Has errors tell of persisted memory; it is read without a wait. */
export function tellOfPersisted(read: typeof persistedOn): void {
  persistedOn = read;
}

/**
 * Runs something that takes memory, within the limit of `gpu.limit()`; when there is too little,
 * runs it again after trimming caches. With `giveBack`, it may come from what a cache keeps.
 *
 * @throws OutOfMemoryError with all amounts when there is still too little.
 */
export function takeWithinLimits<T>(
  need: MemoryNeed,
  take: () => T,
  { giveBack }: { readonly giveBack?: (taken: T) => void } = {},
): T {
  if (need.isImpossible === true) throw outOfMemory(need);
  const { limitBytes } = need.context.ledger;
  if (limitBytes !== undefined && placeOf(need.kind) === "device") {
    const kept = giveBack && takeKept({ ...need, limitBytes }, { take, giveBack });
    if (kept !== undefined) return kept;
    requireRoom({ ...need, limitBytes });
  }
  return takeOrReclaim(need, take);
}

/**
 * Runs something that takes memory. When there is too little, it runs again after caches were
 * trimmed, and again after a wait for memory that is freed but still in use, if that can be enough.
 *
 * @throws OutOfMemoryError with all amounts when there is still too little.
 */
export function takeOrReclaim<T>(need: MemoryNeed, take: () => T): T {
  for (let step = 0;; step++) {
    try {
      return take();
    } catch (error) {
      if (!isShortage(error)) throw error;
      if (makeRoom(need, { step, missingBytes: missingBytes(need) })) continue;
      throw outOfMemory(need, error);
    }
  }
}

/** The error of a driver or a resource that has no memory, before the amounts are added. */
type Shortage = CudaError | MemoryLimitError;

/** Takes memory again as long as `makeRoom` returns true; passes on the last error. */
export function takeAgain<T>(take: () => T, makeRoom: (shortage: MemoryShortage) => boolean): T {
  for (;;) {
    try {
      return take();
    } catch (error) {
      if (!isOutOfMemory(error) || !makeRoom(error)) throw error;
    }
  }
}

/**
 * Makes room, by a more costly step each time; false when no step is left that can be enough: a wait for
 * fewer bytes than are missing would be in vain.
 */
function makeRoom(
  need: MemoryNeed,
  { step, missingBytes }: { readonly step: number; readonly missingBytes: number },
): boolean {
  if (step > 0) return waitForFrees(need, missingBytes);
  reclaim(need);
  return true;
}

/** Returns the bytes that the device lacks; 0 for the host, whose free memory is not known. */
function missingBytes({ context, kind, byteLength }: MemoryNeed): number {
  return placeOf(kind) === "device" ? byteLength - context.freeBytes() : 0;
}

/**
 * Takes memory from what a cache keeps. That stays within `gpu.limit()` even if live, cached and
 * requested bytes together exceed it, so the cache need not be trimmed first. Returns undefined
 * when the memory did not come from the cache; then it was given back.
 */
function takeKept<T>(
  { context: { ledger }, byteLength, limitBytes }: LimitedNeed,
  { take, giveBack }: { readonly take: () => T; readonly giveBack: (taken: T) => void },
): T | undefined {
  const keptBytes = ledger.cachedBytes("device", FOR_LIMIT);
  const neededBytes = ledger.device.currentBytes + byteLength;
  if (keptBytes < byteLength || neededBytes > limitBytes) return undefined;
  if (neededBytes + keptBytes <= limitBytes) return undefined;
  let taken: T;
  try {
    taken = take();
  } catch (error) {
    if (isShortage(error)) return undefined;
    throw error;
  }
  if (neededBytes + ledger.cachedBytes("device", FOR_LIMIT) <= limitBytes) return taken;
  giveBack(taken);
  return undefined;
}

/**
 * Runs something that takes memory. When there is too little, and undisposed objects could hold
 * enough, it runs again after the garbage collector had a chance to release them. Returns a promise
 * only for the second try.
 */
export function takeAfterCollection<T>(context: Context, take: () => T): T | Promise<T> {
  try {
    return take();
  } catch (error) {
    if (!(error instanceof OutOfMemoryError)) throw error;
    if (!isWorthCollecting(context, error)) throw error;
    return takeOnceLost(context, { take, error });
  }
}

/** A garbage collection that released nothing. */
interface VainCollection {
  /** The last object that was made before the collection: later ones may have been lost since. */
  readonly lastId: number;
  /** The time until which no other one is tried, unless there are later objects. */
  readonly restsUntil: number;
  /** The length of that rest, which doubles with each vain collection. */
  readonly restMilliseconds: number;
}

const vain = new WeakMap<Context, VainCollection>();

/** Returns whether live objects could make room, and were not collected in vain a moment ago. */
function isWorthCollecting(context: Context, error: OutOfMemoryError): boolean {
  const { freeBytes, liveBytes, cachedBytes, requestedBytes, limitBytes = Infinity } = error;
  const mostBytes = Math.min(freeBytes + liveBytes + cachedBytes, limitBytes);
  if (liveBytes === 0 || mostBytes < requestedBytes) return false;
  const last = vain.get(context);
  return last === undefined || lastId() > last.lastId || performance.now() > last.restsUntil;
}

/** Tries again whenever something was released; a young object may need two collections. */
async function takeOnceLost<T>(
  context: Context,
  { take, error }: { readonly take: () => T; readonly error: OutOfMemoryError },
): Promise<T> {
  const { undisposed } = context.ledger;
  let lastError = error;
  for (let round = 0; round < FRUITLESS_COLLECTIONS; round++) {
    const { count } = undisposed;
    await collectLost();
    if (undisposed.count === count) continue;
    round = -1; // there may be more
    try {
      const taken = take();
      vain.delete(context);
      return taken;
    } catch (error) {
      if (!(error instanceof OutOfMemoryError)) throw error;
      lastError = error;
    }
  }
  const former = vain.get(context)?.restMilliseconds ?? REST_MILLISECONDS / 2;
  const restMilliseconds = Math.min(2 * former, MAX_REST_MILLISECONDS);
  const restsUntil = performance.now() + restMilliseconds;
  vain.set(context, { lastId: lastId(), restsUntil, restMilliseconds });
  throw lastError;
}

/** Checks the limit; a limit counts what caches keep too, unless they can give it back. */
function requireRoom(need: LimitedNeed): void {
  const { context: { ledger }, byteLength, limitBytes } = need;
  if (byteLength === 0) return;
  for (let step = 0;; step++) {
    const keptBytes = ledger.cachedBytes("device", FOR_LIMIT);
    const missingBytes = ledger.device.currentBytes + keptBytes + byteLength - limitBytes;
    if (missingBytes <= 0) return;
    if (makeRoom(need, { step, missingBytes })) continue;
    const limit = new MemoryLimitError("gpu.limit()", {
      requestedBytes: byteLength,
      heldBytes: ledger.device.currentBytes + ledger.cachedBytes("device", FOR_LIMIT),
      limitBytes,
      remedy: "raise gpu.limit()",
    });
    throw outOfMemory(need, limit);
  }
}

/**
 * Gives back the memory that caches keep on the device and on the host, and returns its size in bytes.
 * Blocks until all queued work is done, because pools keep memory until then.
 */
export function trimAll(context: Context): number {
  const { ledger } = context;
  const keptBytes = () => ledger.cachedBytes("device") + ledger.cachedBytes("host");
  const before = keptBytes();
  trimCaches(context);
  context.waitForAll();
  trimCaches(context);
  return Math.max(0, before - keptBytes());
}

/**
 * Trims the caches of a kind's place, or all of them; a failure is reported and that cache is left.
 * Newest first, because a cache may give its memory back to an older one.
 */
function trimCaches({ ledger, driver }: Context, kind?: LiveKind): void {
  for (const cache of [...ledger.caches].reverse()) {
    if (kind !== undefined && placeOf(cache.kind) !== placeOf(kind)) continue;
    tryRelease(driver, `memory of ${cache.name}`, () => cache.trim());
  }
}

/** Gives back what is free at once, and makes the garbage collector look for more. */
function reclaim({ context, kind }: MemoryNeed): void {
  context.sweep();
  context.noticeFrees();
  trimCaches(context, kind);
  if (context.freed.byteLength > 0) { // a cache has freed what it kept
    context.noticeFrees();
    trimCaches(context, kind);
  }
  hurryCollector();
}

/**
 * Blocks until the GPU is done with some memory that was freed while it was in use, and nothing else;
 * false when there is none, or too little.
 */
function waitForFrees({ context, kind }: MemoryNeed, missingBytes: number): boolean {
  if (context.isCapturing) return false;
  const place = placeOf(kind);
  const freedBytes = place === "device" ? context.freed.byteLength : 0;
  const comingBytes = freedBytes + context.deferred.bytesOf(place);
  if (comingBytes === 0) return false;
  if (comingBytes + context.ledger.cachedBytes(place) < missingBytes) return false;
  if (freedBytes === 0 || !context.freed.waitForMost()) context.deferred.runOf(place);
  trimCaches(context, kind);
  return true;
}

function isShortage(error: unknown): error is Shortage {
  return isOutOfMemory(error) && !(error instanceof OutOfMemoryError);
}

/** Tries whether the device has a block of half the size: then what is free lies in pieces. */
function isHalfThere(context: Context, requestedBytes: number): boolean {
  const byteLength = Math.floor(requestedBytes / 2);
  if (byteLength === 0 || context.isCapturing) return false;
  return succeeds(() => {
    const address = take64(context, "cuMemAlloc_v2", BigInt(byteLength));
    context.giveBack("cuMemFree_v2", address);
  });
}

function outOfMemory(need: MemoryNeed, cause?: Shortage): OutOfMemoryError {
  const { context, kind, byteLength: requestedBytes } = need;
  const { ledger, ordinal, totalBytes } = context;
  const place = placeOf(kind) === "device" ? "device" : "host";
  const refusal = cause instanceof MemoryLimitError ? cause : undefined;
  const deviceLimitBytes = place === "device" ? ledger.limitBytes : undefined;
  const { currentBytes: liveBytes, currentCount: liveCount } = ledger[place];
  const freeBytes = context.freeBytes();
  const isOdd = place === "device" && refusal === undefined && freeBytes >= requestedBytes;
  const amounts: MemoryAmounts = {
    ordinal,
    place,
    requestedBytes,
    freeBytes,
    isSystemMemory: context.sharesSystemMemory,
    isHalfThere: isOdd && isHalfThere(context, requestedBytes),
    totalBytes,
    limitBytes: refusal?.limitBytes ?? deviceLimitBytes,
    remedy: refusal?.remedy,
    liveBytes,
    liveCount,
    cachedBytes: ledger.cachedBytes(place),
    keptBytes: keptBytesOf(ledger, kind),
    persisted: place === "device" ? persistedOn(context) : undefined,
    largest: ledger.largest(NAMED_BLOCKS, place).map((entry) => ({
      name: nameOf(entry),
      byteLength: entry.byteLength,
    })),
  };
  return withCallers(() => new OutOfMemoryError(new Parts({ amounts, cause })));
}

/**
 * Reads a limit: bytes, `"2 GiB"`, or a share such as `"40%"` of `totalBytes`.
 *
 * @throws RangeError when it is neither, or a share above 100 %.
 * @throws TypeError when it is neither a number nor a text.
 */
export function parseLimit(limit: ByteSize, totalBytes: number): number {
  if (typeof limit !== "number" && typeof limit !== "string") {
    throw new TypeError(
      `Cannot read limit ${describeValue(limit)}: expected bytes, a size such as "2 GiB" or a ` +
        `share such as "40%"`,
    );
  }
  if (typeof limit === "number" || !limit.trim().endsWith("%")) return parseBytes(limit, "limit");
  const match = /^\s*(\d+(?:\.\d+)?)\s*%\s*$/.exec(limit);
  const share = match === null ? NaN : Number(match[1]) / 100;
  if (!(share <= 1)) {
    throw new RangeError(
      `Cannot read limit ${describeValue(limit)}: expected "0%" to "100%" of the memory`,
    );
  }
  return Math.floor(share * totalBytes);
}
