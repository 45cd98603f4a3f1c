// One point of the failure sweep: a step during which one driver call fails, another step after it, and
// what is left when all is disposed.

import type { DriverFunction } from "../../../ffi/cuda.ts";
import { driverOf } from "../../../ffi/simulated/driver.ts";
import { Machine } from "../../../ffi/simulated/model/machine.ts";
import { settingsOf } from "../../../ffi/simulated/options.ts";
import { nextTurn } from "../../../src/order/waiting.ts";
import { TicketError } from "../../../src/ticket.ts";
import { engineFor } from "../../../src/transfer/context_engine.ts";
import { CudaError, CudaUnavailableError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { inTime } from "../in_time.ts";
import { CaughtWarnings } from "../warnings.ts";
import { CaughtRejections } from "./caught_rejections.ts";
import { Scene, type Step } from "./scene.ts";
import { show } from "./show.ts";
import { STICKY_STATUS, SweepDriver, type SweepFault } from "./sweep_driver.ts";

/** The time at which a call fails: while the step runs, or while its devices are disposed. */
export type Phase = "run" | "close";

/** The call that fails, and the time. */
export interface Point {
  readonly step: Step;
  /** The phase in which it fails. */
  readonly phase: Phase;
  /** The call that fails; undefined to count the calls of both phases. */
  readonly fault: SweepFault | undefined;
}

/** The outcome of a point. */
export interface Outcome {
  readonly defects: string[];
  /** Calls by function, of both phases where no call fails. */
  readonly counts: Readonly<Record<Phase, ReadonlyMap<DriverFunction, number>>>;
  readonly warnings: readonly string[];
  /** Whether the fault struck. */
  readonly hasFired: boolean;
}

/** No step takes as long. */
const LIMIT_SECONDS = 60;

/** Runs a step with a fault, `next` after it, and looks at what is left. */
export async function runPoint(
  point: Point,
  { folder, next }: { readonly folder: string; readonly next: Step },
): Promise<Outcome> {
  const { step, phase, fault } = point;
  const machine = new Machine(settingsOf({}));
  const raw = driverOf(machine);
  const contexts = retainAll(raw);
  const freeBefore = machine.devices.map(({ freeBytes }) => freeBytes);
  const driver = new SweepDriver(raw);
  const scene = new Scene(driver.api, folder);
  const defects: string[] = [];
  using warnings = new CaughtWarnings();
  using rejections = new CaughtRejections();
  const isSticky = fault?.status === STICKY_STATUS;

  async function attempt(name: string, work: () => unknown): Promise<unknown> {
    try {
      await inTime(LIMIT_SECONDS, Promise.try(work));
      return undefined;
    } catch (error) {
      return error ?? new Error(`${name} threw nothing`);
    }
  }

  if (step.opens !== true) void [scene.gpu, scene.other];
  if (phase === "run") driver.arm(fault);
  const error = await attempt(step.name, () => step.run(scene));
  const inRun = driver.counts;
  if (phase === "run") {
    if (error !== undefined && !isExpected(error, driver, fault)) {
      defects.push(`threw ${describe(error)}`);
    }
  } else if (error !== undefined) defects.push(`failed before: ${describe(error)}`);
  for (const gpu of scene.devices) {
    await engineFor(gpu.context)?.atRest();
    const shown = await attempt("show", () => show(gpu));
    if (shown !== undefined) defects.push(describe(shown));
    const live = gpu.live();
    if (live.count > 0) defects.push(`left live: ${live.objects.map(({ name }) => name)}`);
    live.dispose();
  }
  if (phase === "run" && fault !== undefined && !isSticky) {
    driver.arm();
    const after = await attempt(next.name, () => next.run(scene));
    if (after !== undefined) defects.push(`the next step (${next.name}) threw ${describe(after)}`);
  }
  for (const gpu of scene.devices) await engineFor(gpu.context)?.atRest();
  if (phase === "close" || fault === undefined) driver.arm(fault);
  const closing = await attempt("close", () => scene.close());
  if (closing !== undefined) defects.push(`dispose threw ${describe(closing)}`);
  const counts = { run: inRun, close: driver.counts };
  await nextTurn();
  await nextTurn();
  defects.push(...rejections.reasons.map((reason) => `nobody caught ${describe(reason)}`));
  const wasSaid = error !== undefined || closing !== undefined || warnings.texts.length > 0;
  if (driver.hasFired && fault !== undefined && driver.hasLost && !wasSaid) {
    defects.push("a failed release was not reported");
  }
  if (!driver.hasFired && warnings.texts.length > 0) defects.push(`warned: ${warnings.texts}`);
  if (!isSticky) defects.push(...leftIn(machine, { raw, driver, contexts, freeBefore }));
  else {
    const contextsLeft = driver.held.namesWithout(driver.excused)
      .filter((name) => name.startsWith("context"));
    if (contextsLeft.length > 0) defects.push(`held after all: ${contextsLeft.join(", ")}`);
  }
  return { defects, counts, hasFired: driver.hasFired, warnings: warnings.texts };
}

type Api = ReturnType<typeof driverOf>;

/** Keeps the contexts of all devices, so that what a program leaves is not destroyed with them. */
function retainAll(raw: Api): bigint[] {
  raw.cuInit(0);
  return [0, 1].map((ordinal) => {
    const cell = new BigUint64Array(1);
    raw.cuDevicePrimaryCtxRetain(cell, ordinal);
    return cell[0] ?? 0n;
  });
}

/** Lists what the driver holds that no failed release named. */
function leftIn(
  machine: Machine,
  { raw, driver, contexts, freeBefore }: {
    readonly raw: Api;
    readonly driver: SweepDriver;
    readonly contexts: readonly bigint[];
    readonly freeBefore: readonly number[];
  },
): string[] {
  const left: string[] = [];
  const held = driver.held.namesWithout(driver.excused);
  if (held.length > 0) left.push(`held after all: ${held.join(", ")}`);
  const cell = new BigUint64Array(1);
  raw.cuCtxGetCurrent(cell);
  if (cell[0] !== 0n && !driver.hasFailed("cuCtxSetCurrent")) {
    left.push("a context is current after all");
  }
  for (const context of contexts) {
    raw.cuCtxPushCurrent_v2(context);
    const status = raw.cuCtxSynchronize();
    raw.cuCtxPopCurrent_v2(cell);
    if (status !== 0) left.push(`waiting for the context returned ${status}`);
  }
  const missing = machine.devices.map(({ freeBytes }, i) => (freeBefore[i] ?? 0) - freeBytes);
  if (!driver.isMemoryExcused && missing.some((bytes) => bytes !== 0)) {
    left.push(`device memory is missing: ${missing.join(", ")} bytes`);
  }
  return left;
}

/** Whether an error tells of the failed call, and of nothing else. */
function isExpected(error: unknown, driver: SweepDriver, fault: SweepFault | undefined): boolean {
  if (fault === undefined || !driver.hasFired) return false;
  if (fault.name === "cuInit" && error instanceof CudaUnavailableError) return true;
  if (error instanceof OutOfMemoryError && driver.isMemoryExcused) return true;
  const isWrapped = error instanceof OutOfMemoryError || error instanceof TicketError ||
    error instanceof RangeError && fault.name === "cuMemAddressReserve";
  const failed = isWrapped ? error.cause : error;
  return failed instanceof CudaError && failed.code === fault.status;
}

function describe(error: unknown): string {
  if (error instanceof SuppressedError) {
    return `SuppressedError(${describe(error.error)} over ${describe(error.suppressed)})`;
  }
  if (!(error instanceof Error)) return String(error);
  const place = error.stack?.split("\n").find((line) => /\/(src|ffi)\//.test(line))?.trim() ?? "";
  return `${error.name}: ${error.message} ${place.replace(/file:\S*\/(?=src|ffi)/, "")}`;
}
