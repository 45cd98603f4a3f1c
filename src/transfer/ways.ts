// The one table of the engine: every number that decides how bytes move, each with the bench that chose it,
// and the choice of a way. All were measured on one H200 host with 16 cores; `deno task calibrate` measures
// those that differ most on any other, and names the options that set them.

import { type ByteSize, parseBytes } from "../words/format.ts";
import { NUMBER, OptionSet, SIZE } from "../words/options.ts";

const KIB = 2 ** 10;
const MIB = 2 ** 20;

// The machine: what everything else follows from. Times are milliseconds.

/** Bytes that one thread copies in a millisecond; the driver stages an array with one (bench:driver). */
const CORE_BYTES = 10 * MIB;
/** Bytes of new memory whose pages one thread makes in a millisecond (bench:transfer). */
const PAGE_MAKING_BYTES = 5 * MIB;
/** Time of a call that moves nothing (bench:calls). */
const CALL_MILLISECONDS = 0.01;
/** Lanes that keep the bus busy (bench:transfer). */
const MAX_LANES = 10;
const CORES = navigator.hardwareConcurrency;
const SPARE_CORES = Math.max(1, CORES - 1);

// The event loop.

/** Time for which an awaited call may keep the event loop before its first turn (bench:versions). */
const MAX_TURN_MILLISECONDS = 2;
/** Time of later turns: each by itself costs 6 microseconds, and more where lanes keep all cores busy. */
export const TURN_MILLISECONDS = 0.5;
/** The same in a worker, where lanes come to rest before each turn (bench:transfer). */
export const WORKER_TURN_MILLISECONDS = 10;
/** Cost of a call as bytes that would move meanwhile. */
export const CALL_BYTES: number = CALL_MILLISECONDS * CORE_BYTES;
/** Looks at a stream that is busy, 15 us, and of a lane for work, before either looks at the time (bench:calls). */
export const MAX_IDLE_LOOKS = 32;

// The ring: page-locked slots that large arrays and files pass through.

const SLOT_BYTES = 2 * MIB; // bench:transfer
export const MAX_SLOTS = 32; // bench:transfer: 10 lanes keep the bus busy
/** Slots of the first slab; the next has as many times more, as blocks of streams do, and later ones all that are held. */
export const FIRST_SLOTS = 2;
export const GROWTH = 4;
/** Slots of an upload whose copies are queued in one call (bench:versions). */
export const SLOTS_TOGETHER = 4;
/** Slots that the copy engines of all devices fill before lanes need them (bench:links). */
export const SLOTS_AHEAD = 8;
/** Nothing smaller goes through the ring (bench:transfer). */
export const MIN_RING_BYTES: number = 4 * MIB;
/** Size from which on the ring beats the driver where fewer than {@link MANY_LANES} run (bench:transfer). */
const FEW_LANES_RING_BYTES = 8 * MIN_RING_BYTES;
/** Nothing smaller waits for lanes that sleep, which takes a quarter millisecond (bench:transfer). */
export const MIN_WAKING_BYTES: number = 2 * MIN_RING_BYTES;
/** Pieces of a transfer: more start the copy engine earlier, fewer cost fewer calls (bench:transfer). */
const PIECES_WANTED = 12;
/** Transfers that share a ring or a file at a time; more would evict each other from the caches (bench:both). */
export const MAX_AT_ONCE = 4;

// Threads.

/** Lanes for several devices at once (bench:links). */
const MAX_SHARED_LANES = 24;
/** With fewer lanes the ring never beats the driver; with so many it does at all sizes (bench:transfer). */
export const MIN_LANES = 3;
export const MANY_LANES = 7;
/** Time for which a lane looks for its next task before it sleeps (bench:transfer). */
export const PATIENCE_MILLISECONDS: number = CORES > MANY_LANES ? 2 : 0;
/** Time for which a caller that finds nothing to do sleeps, where cores are few. */
export const NAP_MILLISECONDS: number = CORES > MANY_LANES ? 0 : 0.05;
/** Time for which a lane sleeps at a stretch; in between it ends if its program has ended. */
export const LANE_NAP_SECONDS = 2;
/** Time after which lanes that do not run never will. */
export const MAX_START_MILLISECONDS = 3000;
/** Threads that the kit takes of the runtime's 32, and those that keep arrays among them. */
export const MAX_LENT_THREADS = 26;
export const MAX_KEEPER_THREADS = 4;
/** Places that one task lists, and copies that are queued in 4 milliseconds (bench:many, bench:saves). */
export const MAX_RUNS = 128;
export const MAX_COPIES: number = 8 * MAX_RUNS;

// Demand: when page-locked memory and threads pay (bench:programs).

/** Bytes that a program moves before a ring is made for it. */
export const RING_DEMAND_BYTES: number = 2 * MAX_SLOTS * SLOT_BYTES;
/** Bytes that the driver moves in the time that lanes take to start, 40 to 120 ms. */
export const LANE_DEMAND_BYTES: number = 2048 * MIB;
/** Bytes of the driver's as which a transfer by lent threads counts, which are nearly as fast as lanes. */
export const LENT_DEMAND_BYTES: number = MAX_SLOTS * SLOT_BYTES;
/** Pages of a large array that are looked at, evenly spread: most of them missing makes it fresh. */
export const PAGE_LOOKS = 4;
/** A large page; and the largest block that the C library's heap may take from its own memory. */
export const HUGE_PAGE_BYTES: number = 2 * MIB;
export const MAX_HEAP_BLOCK_BYTES: number = 32 * MIB;

// Arrays of middle size, which lanes and the caller copy together by way of staging memory.

/** Copies of the copy engine: the fewest bytes of one, and the most copies of a transfer (bench:transfer). */
export const MIN_COPY_BYTES: number = 512 * KIB;
export const MAX_SHARED_COPIES = 8;
/** Sizes of these arrays; of those without pages half as much, because larger ones get large pages. */
const MAX_SHARED_BYTES = 2 * MAX_SHARED_COPIES * MIN_COPY_BYTES;
/** The smallest piece of the ring's, and the smallest array for which demand is noted. */
export const MIN_PIECE_BYTES: number = MIN_COPY_BYTES / 2;
/** The smallest array for whose memory anything is done; smaller ones share pages (bench:transfer). */
export const MIN_KEPT_BYTES: number = 64 * KIB;
/** The smallest array whose pages are looked at: making few costs as much as it saves (bench:versions). */
export const MIN_FRESH_BYTES: number = 2 * MIN_KEPT_BYTES;
/** Parts, which lanes copy: fewer bytes cost more to hand out than to copy (bench:transfer). */
export const MIN_PART_BYTES: number = MIN_KEPT_BYTES;
export const MAX_PART_BYTES: number = 2 * MIN_PART_BYTES;
export const PART_SLOTS = 32;
/** Staging memory, whose parts downloads take in turn, and of threads that share it (bench:touched). */
export const STAGING_BYTES: number = 4 * MIB;
export const SHARED_STAGING_BYTES: number = 2 * MAX_SHARED_BYTES;
/** Small downloads that pay for the staging memory, and as how many a larger one counts (bench:transfer). */
export const LARGER_LANDING_COUNT = 16;
export const LANDING_DEMAND_COUNT: number = 20 * LARGER_LANDING_COUNT;

// New arrays.

/** Arrays that lanes make ahead, and the most bytes of them. */
const MAX_MADE_BYTES = MAX_HEAP_BLOCK_BYTES;
export const MAX_AHEAD_BYTES: number = 128 * MIB;
/** Smaller arrays are not waited for: a copy of page-locked memory is nearly as fast (bench:transfer). */
export const MIN_AWAITED_BYTES: number = 4 * MIN_COPY_BYTES;
/** Lanes that make arrays while there is nothing to move, and arrays of one size ahead (bench:transfer). */
export const ARRAY_LANES = 5;
export const MAX_ARRAYS_AHEAD = 8;
/** Sizes that arrays are made ahead of: those that the program asked for last. */
export const MAX_ARRAY_SIZES = 2;
/** Arrays that are asked for and were not sent, at most: a power of two. */
export const MAX_ARRAYS_ASKED: number = MAX_ARRAYS_AHEAD * MAX_ARRAY_SIZES;

// Files, streams, and many small arrays.

/** From this size on a file goes through the ring: the driver cannot read files (bench:files). */
export const MIN_FILE_RING_BYTES: number = 2 * MIN_COPY_BYTES;
/** More parts of a file go through the ring however small they are (bench:saves). */
export const FEW_PARTS = 32;
/** Alignment of packed arrays, the same as that of device memory: the GPU reads such places fastest. */
export const PACK_ALIGNMENT_BYTES = 256;
/** A chunk of a web stream: large enough for the bus, small enough for files, sockets, compressors. */
export const CHUNK_BYTES: number = MIB;
/** The first block of a stream that does not tell its length: a server has hundreds of short ones. */
export const FIRST_BLOCK_BYTES: number = MIN_KEPT_BYTES;
/** Time that a source has to end: longer than one that closes a connection needs. */
export const MAX_CANCEL_MILLISECONDS = 1000;
/** Times that a call about a file is made again which a signal may have interrupted. */
export const MAX_RETRIES = 3;
/** Between two looks whether another process has let a file go. */
export const LOCK_MILLISECONDS = 10;

/** Limits of an engine's size and thresholds of its ways. */
export interface EngineLimits {
  /** Bytes of one slot of its ring. */
  readonly slotBytes: number;
  /** Most slots. */
  readonly slotCount: number;
  /** Lanes for one device; each is a thread. */
  readonly laneCount: number;
  /** Lanes that there are where a driver has several devices: the others work while several move bytes. */
  readonly sharedLaneCount: number;
  /** Size below which no transfer goes through the ring. */
  readonly minRingBytes: number;
  /** Most bytes that the driver moves in a turn of the event loop, or in the call. */
  readonly maxCallBytes: number;
  /** The same into memory without pages, which are made first. */
  readonly maxFreshCallBytes: number;
  /** Time for which a transfer keeps the thread before the event loop has its first turn. */
  readonly firstTurnMilliseconds: number;
  /** Size from which the ring is used; chosen by the number of lanes when left out. */
  readonly ringFromBytes?: number | undefined;
}

/** The limits of this machine. */
export const DEFAULT_LIMITS: EngineLimits = {
  slotBytes: SLOT_BYTES,
  slotCount: MAX_SLOTS,
  laneCount: Math.min(MAX_LANES, SPARE_CORES),
  sharedLaneCount: Math.min(MAX_SHARED_LANES, SPARE_CORES),
  minRingBytes: MIN_RING_BYTES,
  ...callLimits(CORE_BYTES, PAGE_MAKING_BYTES),
  firstTurnMilliseconds: MAX_TURN_MILLISECONDS,
};

/** Limits of large transfers; every field has a default that fits the machine. */
export interface TransferTuning {
  /** Most page-locked memory that large transfers pass through; 64 MiB by default. */
  readonly ringSize?: ByteSize | undefined;
  /**
   * Largest number of threads that fill and drain it. By default one less than the cores, at most
   * 10; at most 24 where there are several GPUs, which
   * share them.
   */
  readonly laneCount?: number | undefined;
  /** From which size a transfer goes through it; `deno task calibrate` finds it for a machine. */
  readonly ringFromSize?: ByteSize | undefined;
  /** Speed at which one core copies, in GB/s; 10.5 by default. It decides how much a call moves at once. */
  readonly coreSpeed?: number | undefined;
  /** Speed at which one core makes the pages of a new array, in GB/s; 5.2 by default. */
  readonly pageSpeed?: number | undefined;
}

/** Checks the options above. */
export const TRANSFER_TUNING: OptionSet<TransferTuning> = new OptionSet({
  ringSize: SIZE,
  laneCount: NUMBER,
  ringFromSize: SIZE,
  coreSpeed: NUMBER,
  pageSpeed: NUMBER,
});

/**
 * Returns the limits for a program's options.
 *
 * @throws RangeError when the ring would hold fewer than four pieces, no lane would run, or a speed is not
 *   from 0.1 to 1000 GB/s.
 */
export function limitsOf(tuning: TransferTuning): EngineLimits {
  const { ringSize, laneCount = DEFAULT_LIMITS.laneCount, ringFromSize } = tuning;
  const coreBytes = bytesAt(tuning, "coreSpeed") ?? CORE_BYTES;
  const pageBytes = bytesAt(tuning, "pageSpeed") ?? PAGE_MAKING_BYTES;
  if (!Number.isInteger(laneCount) || laneCount < 1) {
    throw new RangeError(
      `Cannot use ${laneCount} lanes for transfers: expected a whole number from 1 on`,
    );
  }
  return {
    ...DEFAULT_LIMITS,
    ...callLimits(coreBytes, pageBytes),
    slotCount: ringSize === undefined ? DEFAULT_LIMITS.slotCount : slotCountFor(ringSize),
    laneCount,
    sharedLaneCount: tuning.laneCount ?? DEFAULT_LIMITS.sharedLaneCount,
    ringFromBytes: ringFromSize === undefined
      ? undefined
      : parseBytes(ringFromSize, "ringFromSize"),
  };
}

/** Returns the same limits for lanes that keep to so many cores. */
export function limitsOnCores(limits: EngineLimits, coreCount: number): EngineLimits {
  return {
    ...limits,
    laneCount: Math.min(limits.laneCount, coreCount),
    sharedLaneCount: Math.min(limits.sharedLaneCount, coreCount),
  };
}

/** The sizes that the driver moves in the time of a turn, by the bytes of one core in a millisecond. */
function callLimits(
  coreBytes: number,
  pageBytes: number,
): Pick<EngineLimits, "maxCallBytes" | "maxFreshCallBytes"> {
  const freshMilliseconds = 0.75 * MAX_TURN_MILLISECONDS; // new pages take longer at times
  return {
    maxCallBytes: powerNear(MAX_TURN_MILLISECONDS * coreBytes),
    maxFreshCallBytes: powerNear(freshMilliseconds / (1 / coreBytes + 1 / pageBytes)),
  };
}

/** Returns the bytes of a millisecond at a speed that the program gives. */
function bytesAt(tuning: TransferTuning, name: "coreSpeed" | "pageSpeed"): number | undefined {
  const speed = tuning[name];
  if (speed === undefined) return undefined;
  if (speed >= 0.1 && speed <= 1000) return speed * 1e6;
  throw new RangeError(
    `Cannot use the ${name} ${speed} for transfers: expected GB/s from 0.1 to 1000`,
  );
}

function slotCountFor(ringSize: ByteSize): number {
  const slotCount = Math.floor(parseBytes(ringSize, "ringSize") / SLOT_BYTES);
  if (slotCount >= 2 * FIRST_SLOTS) return slotCount;
  throw new RangeError(
    `Cannot use a ring of ${ringSize} for transfers: expected at least 8 MiB`,
  );
}

/** The threads that a transfer may use. */
export interface Hands {
  /** Lanes that run. */
  readonly laneCount: number;
  /** The runtime lends threads until lanes run; not to a caller that gives the event loop no turn. */
  readonly canLend: boolean;
}

/**
 * Returns whether a transfer goes through the ring, by lanes or, until these run, by lent threads. What
 * does not is moved by the driver: in one call where that is brief or the caller blocks, else in pieces
 * between turns of the event loop.
 */
export function goesThroughRing(
  byteLength: number,
  { laneCount, canLend }: Hands,
  { ringFromBytes, minRingBytes, maxCallBytes }: EngineLimits,
): boolean {
  if (byteLength < minRingBytes) return false;
  if (laneCount === 0) return canLend && byteLength > (ringFromBytes ?? maxCallBytes);
  const fromBytes = laneCount >= MANY_LANES ? minRingBytes : FEW_LANES_RING_BYTES;
  return laneCount >= MIN_LANES && byteLength >= (ringFromBytes ?? fromBytes);
}

/** Returns whether lanes that are awake and the caller share a transfer of a size. */
export function isShared(byteLength: number, { isFresh = false } = {}): boolean {
  const share = isFresh ? 0.5 : 1;
  return byteLength >= share * MIN_COPY_BYTES && byteLength <= share * MAX_SHARED_BYTES;
}

/** Returns whether new arrays of a size are made by lanes, ahead of a program that makes more of them. */
export function isMade(byteLength: number): boolean {
  return byteLength >= MIN_COPY_BYTES && byteLength <= MAX_MADE_BYTES;
}

/** Returns the time for which an array that lanes make is waited for: as long as this thread would take. */
export function waitForArray(byteLength: number): number {
  return Math.min(MAX_TURN_MILLISECONDS, byteLength / CORE_BYTES);
}

/** Finds the size of the pieces of a transfer through the ring: a power of two, at most a slot. */
export function pieceBytesFor(byteLength: number, slotBytes: number): number {
  return Math.min(slotBytes, Math.max(MIN_PIECE_BYTES, powerNear(byteLength / PIECES_WANTED)));
}

/** Returns the power of two that is nearest to a number. */
function powerNear(value: number): number {
  return 2 ** Math.round(Math.log2(value));
}
