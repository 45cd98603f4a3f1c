// Whether what the simulated driver makes of a step is what a real one made of it, a difference that
// is wanted, or one that is not.

import { CU_MEMHOSTALLOC } from "../../../ffi/constants.ts";
import { type Rule, STRICTER, type WantedAnswer } from "../../../ffi/simulated/stricter.ts";
import { type Played, SKIPPED } from "./player.ts";

/** The outcome of a step that ended the real process. */
export const CRASHED = "crash";
/** The outcome of a step from which the real driver did not return. */
export const HUNG = "hang";

/** The verdict of a comparison on a step. */
export interface Verdict {
  /** Whether the outcomes are the same, differ as they should, or differ. */
  readonly kind: "same" | "wanted" | "different";
  /** The rule behind a difference that is wanted. */
  readonly rule?: Rule;
  /** Whether the drivers may be in different states now, so that later steps cannot be compared. */
  readonly isParted: boolean;
}

/** A step to compare. */
export interface ComparedStep {
  readonly call: string;
  /** The outcome on the real driver. */
  readonly real: string;
  /** The outcome on the simulated one. */
  readonly simulated: Played;
  readonly managedCount: number;
  /** Whether frees were queued, and the host has not waited for all work since. */
  readonly isFreeing: boolean;
}

/** Compares the outcomes of a step. */
export function compareStep(step: ComparedStep): Verdict {
  const { real, simulated } = step;
  if (real === simulated.outcome) return { kind: "same", isParted: false };
  const isLost = real === CRASHED || real === HUNG;
  const isParted = isLost || isDone(real) !== isDone(simulated.outcome) ||
    simulated.isLate === true;
  if (simulated.rule !== undefined) return { kind: "wanted", rule: simulated.rule, isParted };
  if (isLost && !isDone(simulated.outcome)) {
    return { kind: "wanted", rule: "endsProcess", isParted };
  }
  const rule = answerRule(step);
  return rule === undefined ? { kind: "different", isParted } : { kind: "wanted", rule, isParted };
}

/** Finds the rule by which two answers may differ. */
function answerRule(step: ComparedStep): Rule | undefined {
  const { call, real, simulated } = step;
  const rules = Object.entries<WantedAnswer>(STRICTER.answers) as [Rule, WantedAnswer][];
  const [realStatus, simulatedStatus] = [statusOf(real), statusOf(simulated.outcome)];
  const found = rules.find(([rule, { calls, statuses = [], outputs = false }]) => {
    if (!calls.includes(call)) return false;
    const hasOutputs = outputs && isPossible(rule, step);
    if (hasOutputs && realStatus === simulatedStatus) return true;
    return statuses.some(([first, second]) => first === realStatus && second === simulatedStatus);
  });
  return found?.[0];
}

/** Tells whether what a driver answers beside the status can differ by a rule. */
function isPossible(rule: Rule, step: ComparedStep): boolean {
  if (rule === "neighbours") return isOfNeighbours(step);
  // Only a queued free changes what a pool holds.
  return rule !== "progress" || (step.call === "cuMemPoolGetAttribute" && step.isFreeing);
}

/** Tells whether a neighbour can be what makes two answers differ. */
function isOfNeighbours({ call, real, simulated, managedCount }: ComparedStep): boolean {
  if (call === "cuMemRangeGetAttribute") return managedCount > 1;
  // Page-locked blocks of other sequences are neighbours, too: only one flag can be theirs.
  const [realFlags, simulatedFlags] = [real, simulated.outcome].map((outcome) =>
    Number(outcome.split(" ")[1])
  );
  return ((realFlags ?? 0) ^ (simulatedFlags ?? 0)) === CU_MEMHOSTALLOC.PORTABLE;
}

/** Tells whether a driver did what a step asks for, as far as its state goes. */
function isDone(outcome: string): boolean {
  const status = statusOf(outcome);
  return status === 0 || status === 600;
}

function statusOf(outcome: string): number | undefined {
  if (outcome === SKIPPED) return undefined;
  const status = Number(outcome.split(" ")[0]);
  return Number.isNaN(status) ? undefined : status;
}
