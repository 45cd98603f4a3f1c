// The engine of each context, which a program's first transfers do without: it takes ten milliseconds and
// more to make, and its threads more than that.

import type { Context } from "../driver/context.ts";
import { TransferEngine } from "./engine.ts";
import {
  DEFAULT_LIMITS,
  type EngineLimits,
  LANE_DEMAND_BYTES,
  LENT_DEMAND_BYTES,
  limitsOf,
  MANY_LANES,
  MIN_PIECE_BYTES,
  RING_DEMAND_BYTES,
  type TransferTuning,
} from "./ways.ts";

/** Totals of a context's transfers, and its engine. */
interface Usage {
  engine: TransferEngine | undefined;
  /** Bytes that an engine would have moved. */
  movedBytes: number;
  /** Bytes that the driver has moved in the time that lanes would have saved. */
  lostBytes: number;
}

const usages = new WeakMap<Context, Usage>();

/** Returns the engine of a context, and makes it; it ends with the context. */
export function engineOf(context: Context): TransferEngine {
  return usageOf(context).engine ?? adoptEngine(context, new TransferEngine(context));
}

/** Returns the engine of a context, if it has one. */
export function engineFor(context: Context): TransferEngine | undefined {
  return usageOf(context).engine;
}

/** Gives a context its engine, which ends with it. */
export function adoptEngine(context: Context, engine: TransferEngine): TransferEngine {
  usageOf(context).engine = engine;
  context.atRelease(() => engine.dispose());
  return engine;
}

/**
 * Sets the limits of a context's engine, before its first large transfer.
 *
 * @throws TypeError when the context has one already.
 */
export function tuneEngine(context: Context, tuning: TransferTuning): void {
  const limits = limitsOf(tuning);
  if (engineFor(context) !== undefined) {
    throw new TypeError(
      `Cannot tune transfers of device ${context.ordinal}: they have begun; pass ` +
        `{ transfers } where the device is first opened`,
    );
  }
  adoptEngine(context, new TransferEngine(context, limits));
}

/** Returns the limits of a context's engine, also before it exists. */
export function engineLimits(context: Context): EngineLimits {
  return engineFor(context)?.limits ?? DEFAULT_LIMITS;
}

/** Returns whether a transfer is always one driver call, whatever threads there are. */
export function isSmall(context: Context, byteLength: number): boolean {
  const { minRingBytes } = usages.get(context)?.engine?.limits ?? DEFAULT_LIMITS;
  return byteLength < Math.min(MIN_PIECE_BYTES, minRingBytes);
}

/**
 * Notes that bytes are about to move. Makes the engine once it pays, and starts the lanes once these would
 * have saved as much time as their start takes: a program that moves little never pays for threads.
 */
export function noteDemand(
  context: Context,
  byteLength: number,
  { canLend }: { readonly canLend: boolean },
): void {
  const { minRingBytes, laneCount } = engineLimits(context);
  const isBrief = byteLength < minRingBytes;
  if (isBrief && laneCount < MANY_LANES) return;
  const usage = usageOf(context);
  if (!isBrief) usage.movedBytes += byteLength;
  const engine = usage.movedBytes >= RING_DEMAND_BYTES ? engineOf(context) : usage.engine;
  const isLent = canLend && engine !== undefined && engine.canLend && !engine.isShared;
  if (usage.lostBytes >= LANE_DEMAND_BYTES) engineOf(context).startLanes();
  usage.lostBytes += isLent ? LENT_DEMAND_BYTES : byteLength;
}

function usageOf(context: Context): Usage {
  const unused = () => ({ engine: undefined, movedBytes: 0, lostBytes: 0 });
  return usages.getOrInsertComputed(context, unused);
}
