// Puts the differences that a replay has found into words: grouped by function and outcomes, most
// frequent first, each group with its shortest sequence.

import { type Rule, STRICTER } from "../../../ffi/simulated/stricter.ts";
import type { Difference, Replay } from "./replay.ts";

/** Differences of one kind. */
export interface DifferenceGroup {
  readonly call: string;
  readonly real: string;
  readonly simulated: string;
  /** The differences, those of the shortest sequences first. */
  readonly differences: readonly Difference[];
}

/** Groups differences by function and outcomes; bytes and numbers of outputs do not tell groups apart. */
export function groupDifferences(differences: readonly Difference[]): DifferenceGroup[] {
  const groups = Map.groupBy(
    differences,
    ({ call, real, simulated }) =>
      [call, kindOf(real, simulated), kindOf(simulated, real)].join("|"),
  );
  return [...groups.entries()]
    .map(([key, members]) => {
      const [call = "", real = "", simulated = ""] = key.split("|");
      const sorted = members.toSorted((a, b) => a.lines.length - b.lines.length);
      return { call, real, simulated, differences: sorted };
    })
    .sort((a, b) => b.differences.length - a.differences.length);
}

/** Returns the way in which the simulated driver differs by a rule. */
function wayOf(rule: Rule): string | undefined {
  return Object.entries(STRICTER).find(([, rules]) =>
    Array.isArray(rules) ? rules.includes(rule) : rule in rules
  )?.[0];
}

/** Describes the result of a replay, with the shortest sequence of each group. */
export function describeReplay(replay: Replay, { exampleCount = 1 } = {}): string {
  const { stepCount, leftOutCount, wanted, differences } = replay;
  const groups = groupDifferences(differences);
  const lines = [
    `${stepCount} steps compared, ${leftOutCount} left out behind a wanted difference`,
    `${differences.length} differences of ${groups.length} kinds that are not wanted`,
    ...[...wanted].map(([rule, count]) => `wanted: ${count} by ${rule} (${wayOf(rule)})`),
  ];
  for (const { call, real, simulated, differences: members } of groups) {
    lines.push(
      "",
      `== ${call}: ${real} on the real driver, ${simulated} simulated; ${members.length} times`,
    );
    for (const example of members.slice(0, exampleCount)) lines.push(...describeExample(example));
  }
  return lines.join("\n");
}

function describeExample({ id, isFresh, lines, real, simulated }: Difference): string[] {
  return [
    `   in ${id}${isFresh ? " (fresh)" : ""}: real ${real}, simulated ${simulated}`,
    ...lines.map((line) => `   ${line}`),
  ];
}

/** Shortens an outcome to its status where the statuses already tell the two apart. */
function kindOf(outcome: string, other: string): string {
  const [status = "", ...outputs] = outcome.split(" ");
  const isToldByStatus = status !== other.split(" ")[0];
  if (status === "throws") return outcome;
  return isToldByStatus || outputs.length === 0 ? status : `${status} with other outputs`;
}
