// The failure sweep: every driver function fails at its first calls in every step that reaches it.

import { CUDA, type DriverFunction } from "../../../ffi/cuda.ts";
import { type Outcome, type Phase, type Point, runPoint } from "./point.ts";
import type { Step } from "./scene.ts";
import { STEPS } from "./steps/all.ts";

/** So many calls of a function fail, one after another, in each step and phase. */
const FIRST_CALLS = 3;

/** A defect, and where. */
export interface Finding {
  readonly point: Point;
  readonly defects: readonly string[];
}

/** The functions that a step reaches in a phase, with the number of calls. */
export interface Reach {
  readonly step: Step;
  readonly phase: Phase;
  readonly counts: ReadonlyMap<DriverFunction, number>;
}

/** Runs steps with nothing failing, and tells what they reach. */
export async function takeCensus(folder: string): Promise<{
  readonly reaches: readonly Reach[];
  readonly findings: readonly Finding[];
}> {
  const reaches: Reach[] = [];
  const findings: Finding[] = [];
  for (const step of STEPS) {
    const point = { step, phase: "run", fault: undefined } as const;
    const { counts, defects } = await run(point, folder);
    for (const phase of ["run", "close"] as const) {
      reaches.push({ step, phase, counts: counts[phase] });
    }
    if (defects.length > 0) findings.push({ point, defects });
  }
  return { reaches, findings };
}

/** Lists the points of the full product for some statuses. */
export function pointsOf(reaches: readonly Reach[], statuses: readonly number[]): Point[] {
  return reaches.flatMap(({ step, phase, counts }) =>
    [...counts].flatMap(([name, count]) =>
      Array.from({ length: Math.min(FIRST_CALLS, count) }, (_, i) => i + 1).flatMap((nth) =>
        statuses.map((status): Point => ({ step, phase, fault: { name, nth, status } }))
      )
    )
  );
}

/** Runs one point. */
export function run(point: Point, folder: string): Promise<Outcome> {
  const next = STEPS[(STEPS.indexOf(point.step) + 1) % STEPS.length] ?? point.step;
  return runPoint(point, { folder, next });
}

/** Names a point. */
export function nameOfPoint({ step, phase, fault }: Point): string {
  const call = fault === undefined ? "nothing" : `${fault.name} #${fault.nth} = ${fault.status}`;
  return `${call} | ${step.name}${phase === "close" ? " (dispose)" : ""}`;
}

/** The functions of the driver's table that no step reaches. */
export function unreached(reaches: readonly Reach[]): DriverFunction[] {
  const reached = new Set(reaches.flatMap(({ counts }) => [...counts.keys()]));
  return (Object.keys(CUDA) as DriverFunction[]).filter((name) => !reached.has(name));
}
