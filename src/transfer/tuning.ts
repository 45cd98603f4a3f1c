// Limits of the transfer engine's size, and the sizes from which it is used.

import type { LaneNeeds } from "../lanes/lane_share.ts";
import { type ByteSize, parseBytes } from "../words/format.ts";
import { NUMBER, OptionSet, SIZE } from "../words/options.ts";
import type { RingLimits } from "./pinned_ring.ts";
import { DRIVER_PIECE_BYTES, RING_DEMAND_BYTES, SMALLEST_RING_BYTES } from "./ways.ts";

/** Limits of large transfers; every field has a default that fits the machine. */
export interface TransferTuning {
  /** Most page-locked memory that large transfers pass through; 64 MiB by default. */
  readonly ringSize?: ByteSize | undefined;
  /**
   * Largest number of threads that fill and drain it. By default one less than the cores, at most
   * 10; at most 15 for memory that was never touched, and before lanes run; at most 24 where there are
   * several GPUs, which share them.
   */
  readonly laneCount?: number | undefined;
  /** From which size a transfer goes through it; `deno task calibrate` finds it for a machine. */
  readonly ringFromSize?: ByteSize | undefined;
}

/** Checks the options above. */
export const TRANSFER_TUNING: OptionSet<TransferTuning> = new OptionSet({
  ringSize: SIZE,
  laneCount: NUMBER,
  ringFromSize: SIZE,
});

/** Limits of an engine's size and thresholds of its ways. */
export interface EngineLimits extends RingLimits, LaneNeeds {
  /** Size below which a transfer is one driver call. */
  readonly briefBytes: number;
  /** Most bytes that an awaited transfer moves in the call, without a turn of the event loop. */
  readonly atOnceBytes: number;
  /** Bytes that the driver moves at a time. */
  readonly driverPieceBytes: number;
  /** Time for which a transfer keeps the thread before the event loop has its first turn. */
  readonly firstTurnMilliseconds: number;
  /** Bytes that all transfers together request before the ring pays off. */
  readonly demandBytes: number;
  /** Size from which the ring is used; chosen by the number of lanes when left out. */
  readonly ringFromBytes?: number | undefined;
}

/** Enough for most new arrays of 64 MiB: keeping an array through a turn takes threads and time. */
const FIRST_TURN_MILLISECONDS = 4;

/** The driver takes up to a millisecond for these. */
const AT_ONCE_BYTES = 16 * 2 ** 20;

const SLOT_BYTES = 2 * 2 ** 20;
const FEWEST_SLOTS = 4;
const DEFAULT_SLOTS = 32;
const SPARE_CORES = Math.max(1, navigator.hardwareConcurrency - 1);

/** Slots of 2 MiB; 10 lanes keep the bus busy, fresh pages take more. A larger ring grows by as much. */
export const DEFAULT_LIMITS: EngineLimits = {
  slotBytes: SLOT_BYTES,
  slotCount: DEFAULT_SLOTS,
  slabSlots: DEFAULT_SLOTS,
  laneCount: Math.min(10, SPARE_CORES),
  freshLaneCount: Math.min(15, SPARE_CORES),
  sharedLaneCount: Math.min(24, SPARE_CORES),
  briefBytes: SMALLEST_RING_BYTES,
  atOnceBytes: AT_ONCE_BYTES,
  driverPieceBytes: DRIVER_PIECE_BYTES,
  firstTurnMilliseconds: FIRST_TURN_MILLISECONDS,
  demandBytes: RING_DEMAND_BYTES,
};

/**
 * Returns the limits for a program's options.
 *
 * @throws RangeError when the ring would hold fewer than four pieces, or no lane would run.
 */
export function limitsOf(tuning: TransferTuning): EngineLimits {
  const { ringSize, laneCount = DEFAULT_LIMITS.laneCount, ringFromSize } = tuning;
  if (!Number.isInteger(laneCount) || laneCount < 1) {
    throw new RangeError(
      `Cannot use ${laneCount} lanes for transfers: expected a whole number from 1 on`,
    );
  }
  return {
    ...DEFAULT_LIMITS,
    slotCount: ringSize === undefined ? DEFAULT_LIMITS.slotCount : slotCountFor(ringSize),
    laneCount,
    freshLaneCount: tuning.laneCount ?? DEFAULT_LIMITS.freshLaneCount,
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
    freshLaneCount: Math.min(limits.freshLaneCount, coreCount),
    sharedLaneCount: Math.min(limits.sharedLaneCount, coreCount),
  };
}

function slotCountFor(ringSize: ByteSize): number {
  const slotCount = Math.floor(parseBytes(ringSize, "ringSize") / SLOT_BYTES);
  if (slotCount >= FEWEST_SLOTS) return slotCount;
  throw new RangeError(
    `Cannot use a ring of ${ringSize} for transfers: expected at least 8 MiB`,
  );
}
