// The engine of each context, which a program's first transfers do without: it takes ten milliseconds and
// more to make.

import type { Context } from "../driver/context.ts";
import type { ArrayMaker } from "../lanes/array_maker.ts";
import type { CopyLanes, Lending } from "../lanes/copy_lanes.ts";
import { Demand } from "./demand.ts";
import { TransferEngine } from "./engine.ts";
import { DEFAULT_LIMITS, type EngineLimits, limitsOf, type TransferTuning } from "./tuning.ts";
import { MANY_LANES, SHARED_BYTES } from "./ways.ts";

const engines = new WeakMap<Context, TransferEngine>();

/** Demand of contexts that have no engine yet. */
const earlyDemands = new WeakMap<Context, Demand>();

/** Returns the engine of a context; it ends with the context. */
export function engineOf(context: Context): TransferEngine {
  const known = engines.get(context);
  if (known !== undefined) return known;
  const demand = earlyDemandOf(context);
  return adoptEngine(context, new TransferEngine(context, DEFAULT_LIMITS, { demand }));
}

/** Gives a context its engine, which ends with it. */
export function adoptEngine(context: Context, engine: TransferEngine): TransferEngine {
  engines.set(context, engine);
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
  if (engines.has(context)) {
    throw new TypeError(
      `Cannot tune transfers of device ${context.ordinal}: they have begun; pass ` +
        `{ transfers } where the device is first opened`,
    );
  }
  adoptEngine(context, new TransferEngine(context, limits));
}

/** Returns the limits of a context's engine, also before it exists. */
export function engineLimits(context: Context): EngineLimits {
  return engines.get(context)?.limits ?? DEFAULT_LIMITS;
}

/** Returns whether a transfer is among a program's first ones, for which no engine is made. */
export function isEarly(context: Context, byteLength: number): boolean {
  return !engines.has(context) && !earlyDemandOf(context).wouldPayForRing(byteLength);
}

/**
 * Returns whether a transfer is one driver call: every small one, and those that take about a
 * millisecond as long as they do not go through the ring.
 */
export function isDriverCall(context: Context, byteLength: number): boolean {
  const { briefBytes, atOnceBytes } = engineLimits(context);
  if (byteLength < briefBytes) return true;
  if (byteLength > atOnceBytes) return false;
  if (isEarly(context, byteLength)) return true;
  return engineOf(context).wayFor(byteLength, { canLend: false }) === "driver";
}

/** Notes that bytes are about to move, among a program's first ones or by the engine's choice. */
export function noteDemand(context: Context, byteLength: number, { canLend }: Lending): void {
  const { briefBytes, laneCount } = engineLimits(context);
  if (byteLength < briefBytes) {
    if (byteLength < SHARED_BYTES.fresh.smallest || laneCount < MANY_LANES) return;
    if (earlyDemandOf(context).addBrief(byteLength)) engineOf(context).startLanes();
    return;
  }
  if (isEarly(context, byteLength)) return earlyDemandOf(context).add(byteLength);
  engineOf(context).anticipate(byteLength, { canLend });
}

/** Returns what makes new arrays of middle size ahead; undefined where nothing does. */
export function arrayMaker(context: Context): ArrayMaker | undefined {
  return engines.get(context)?.arrayMaker;
}

/** Returns lanes that copy together with the caller; undefined while too few are awake. */
export function awakeLanes(context: Context): CopyLanes | undefined {
  return engines.get(context)?.awakeLanes;
}

/** Resolves when no thread works for the transfers of a context that are over. */
export async function engineAtRest(context: Context): Promise<void> {
  await engines.get(context)?.atRest();
}

function earlyDemandOf(context: Context): Demand {
  return earlyDemands.getOrInsertComputed(context, makeDemand);
}

function makeDemand(): Demand {
  return new Demand(DEFAULT_LIMITS.demandBytes);
}
