// Tells whether two strided layouts of one buffer share an element.

import { countOf } from "./shape.ts";
import type { StridedLayout } from "./strides.ts";

/** One term of a sum: `0` to `count - 1` times `stride`. */
interface Term {
  readonly stride: number;
  readonly count: number;
}

/** Steps after which the search gives up; the layouts then count as overlapping. */
const MAX_STEPS = 10_000;

/** Returns whether two layouts share an element; also true when finding out would take too long. */
export function sharesElement(a: StridedLayout, b: StridedLayout): boolean {
  if (countOf(a.shape) === 0 || countOf(b.shape) === 0) return false;
  // An element is shared when a step of `a` and a step of `b` meet: their difference is a sum of
  // multiples of all strides, each of which can be turned to run upwards.
  let distance = b.offset - a.offset;
  const terms: Term[] = [];
  for (const { stride, count } of [...termsOf(a, 1), ...termsOf(b, -1)]) {
    if (stride < 0) distance -= stride * (count - 1);
    if (stride !== 0 && count > 1) terms.push({ stride: Math.abs(stride), count });
  }
  terms.sort((first, second) => second.stride - first.stride);
  const budget = { steps: MAX_STEPS };
  return canReach(distance, terms, budget) || budget.steps <= 0;
}

function termsOf({ shape, strides }: StridedLayout, sign: number): Term[] {
  return shape.map((count, axis) => ({ stride: sign * (strides[axis] ?? 0), count }));
}

/** Returns whether multiples of the terms add up to a sum; the largest stride leaves few choices. */
function canReach(sum: number, terms: readonly Term[], budget: { steps: number }): boolean {
  const [term, ...rest] = terms;
  if (term === undefined) return sum === 0;
  const restReach = rest.reduce((reach, { stride, count }) => reach + stride * (count - 1), 0);
  const fewest = Math.max(0, Math.ceil((sum - restReach) / term.stride));
  const most = Math.min(term.count - 1, Math.floor(sum / term.stride));
  for (let times = fewest; times <= most && budget.steps > 0; times++) {
    budget.steps--;
    if (canReach(sum - times * term.stride, rest, budget)) return true;
  }
  return false;
}
