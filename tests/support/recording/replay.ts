// Replays a recording on the simulated driver and collects where the two differ.

import type { Rule } from "../../../ffi/simulated/stricter.ts";
import { compareStep } from "./compare.ts";
import { parseStep } from "./notation.ts";
import { SKIPPED } from "./player.ts";
import type { RecordedSequence } from "./recording.ts";
import { type MachineFacts, simulate } from "./simulation.ts";

/** A step that the two drivers make something else of. */
export interface Difference {
  readonly id: string;
  /** Whether the sequence starts without contexts. */
  readonly isFresh: boolean;
  /** The steps up to the one that differs. */
  readonly lines: readonly string[];
  /** The function that differs. */
  readonly call: string;
  readonly real: string;
  readonly simulated: string;
}

/** The findings of a replay. */
export interface Replay {
  /** The number of steps that were compared. */
  stepCount: number;
  /** The number of steps of a sequence that were left out behind one where the drivers part. */
  leftOutCount: number;
  /** The number of differences for each rule that was the reason. */
  readonly wanted: Map<Rule, number>;
  /** Differences that are not wanted. */
  readonly differences: Difference[];
}

/** Starts with nothing found. */
export function emptyReplay(): Replay {
  return { stepCount: 0, leftOutCount: 0, wanted: new Map(), differences: [] };
}

/** Replays a sequence and adds what it finds. */
export async function replaySequence(
  { id, isFresh, lines, outcomes }: RecordedSequence,
  facts: MachineFacts,
  found: Replay,
): Promise<void> {
  const player = simulate(facts, { isFresh });
  for (const [index, line] of lines.entries()) {
    const real = outcomes[index] ?? SKIPPED;
    if (real === SKIPPED) continue;
    const { call } = parseStep(line);
    const simulated = await player.play(line);
    const managedCount = player.world.alive("managed").length;
    const { isFreeing } = player.world;
    const verdict = compareStep({ call, real, simulated, managedCount, isFreeing });
    found.stepCount++;
    if (verdict.rule !== undefined) {
      found.wanted.set(verdict.rule, (found.wanted.get(verdict.rule) ?? 0) + 1);
    }
    if (verdict.kind === "different") {
      const { outcome } = simulated;
      found.differences.push({
        ...{ id, isFresh, call, real, simulated: outcome },
        lines: lines.slice(0, index + 1),
      });
    }
    if (!verdict.isParted) continue;
    found.leftOutCount += lines.length - index - 1;
    return;
  }
}
