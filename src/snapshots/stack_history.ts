// Memory over time by stack, from the steps of the allocator: the amounts before them follow from those
// at the end.

import type { SnapshotEvent, SnapshotSegment } from "./snapshot_form.ts";
import { BEFORE, namesOf, type SnapshotStack } from "./stacks.ts";

/** Memory of one device over time. */
export interface StackHistory {
  /** The moments that were chosen: 0 is before the first step, 1 after it. */
  readonly moments: readonly number[];
  /** Bytes at each moment, of the largest stacks, and of all others together. */
  readonly areas: readonly {
    readonly stack: SnapshotStack;
    readonly name: string;
    readonly bytes: readonly number[];
    readonly peakBytes: number;
  }[];
  /** Bytes taken from the driver at each moment. */
  readonly reservedBytes: readonly number[];
  /** The most that was held at once. */
  readonly peakBytes: number;
}

/** A change of the bytes of a stack. */
interface Change {
  readonly stack: SnapshotStack;
  readonly bytes: number;
}

const NO_CHANGE: readonly Change[] = [];

/** Stretches of a long history: a picture shows of each its highest moment and its lowest. */
const STRETCH_COUNT = 300;

/** Stands for the memory taken from the driver. */
const RESERVED: SnapshotStack = { name: "taken from the driver", frames: [] };

const SIGNS: Readonly<Record<string, number>> = {
  segment_alloc: 1,
  segment_map: 1,
  segment_free: -1,
  segment_unmap: -1,
};

/** Follows the memory by the place where it was allocated; `stackCount` of them are told apart. */
export function stackHistory(
  { events, segments }: {
    readonly events: readonly SnapshotEvent[];
    readonly segments: readonly SnapshotSegment[];
  },
  stackCount: number,
): StackHistory {
  const { changes, start } = changesOf(events, segments);
  const [held, peaks] = [new Map(start), new Map(start)];
  let total = sumOf([...start.values()]) - (start.get(RESERVED) ?? 0);
  const totals = [total];
  for (const own of changes) {
    for (const { stack, bytes } of own) {
      const now = (held.get(stack) ?? 0) + bytes;
      held.set(stack, now);
      peaks.set(stack, Math.max(peaks.get(stack) ?? 0, now));
      if (stack !== RESERVED) total += bytes;
    }
    totals.push(total);
  }
  peaks.delete(RESERVED);
  const largest = [...peaks].sort(([, a], [, b]) => b - a).slice(0, stackCount)
    .map(([stack]) => stack);
  const others = { name: `${peaks.size - largest.length} smaller`, frames: [] };
  const shown = peaks.size > largest.length ? [...largest, others] : largest;
  const rows = new Map(
    [...shown, RESERVED].map((stack) => [stack, { now: 0, bytes: [0].slice(1) }]),
  );
  const add = ({ stack, bytes }: Change) => {
    const row = rows.get(stack) ?? rows.get(others);
    if (row !== undefined) row.now += bytes;
  };
  for (const [stack, bytes] of start) add({ stack, bytes });
  const moments = momentsOf(totals);
  let done = 0;
  for (const moment of moments) {
    for (; done < moment; done++) changes[done]?.forEach(add);
    for (const { now, bytes } of rows.values()) bytes.push(Math.max(0, now));
  }
  const names = namesOf(shown);
  return {
    moments,
    areas: shown.map((stack) => {
      const bytes = rows.get(stack)?.bytes ?? [];
      const peakBytes = peaks.get(stack) ?? Math.max(...bytes);
      return { stack, name: names.get(stack) ?? "", bytes, peakBytes };
    }),
    reservedBytes: rows.get(RESERVED)?.bytes ?? [],
    peakBytes: totals.reduce((a, b) => Math.max(a, b)),
  };
}

/** Returns the changes by step, and the bytes of each stack before the first. */
function changesOf(events: readonly SnapshotEvent[], segments: readonly SnapshotSegment[]) {
  const start = new Map<SnapshotStack, number>();
  const begin = (stack: SnapshotStack, bytes: number) =>
    start.set(stack, (start.get(stack) ?? 0) + bytes);
  const live = new Map<number, Change>();
  begin(RESERVED, sumOf(segments.map(({ byteLength }) => byteLength)));
  const release = (address: number): Change[] => {
    const { stack, bytes } = live.get(address) ?? {};
    live.delete(address);
    return stack === undefined ? [] : [{ stack, bytes: -(bytes ?? 0) }];
  };
  const changes = events.map(({ action, address, byteLength, stack }): readonly Change[] => {
    const sign = SIGNS[action];
    if (sign !== undefined) {
      begin(RESERVED, -sign * byteLength);
      return [{ stack: RESERVED, bytes: sign * byteLength }];
    }
    if (action === "alloc") {
      const former = release(address); // whose free was not recorded
      live.set(address, { stack, bytes: byteLength });
      return [...former, { stack, bytes: byteLength }];
    }
    if (action !== "free_completed") return NO_CHANGE;
    const released = release(address);
    if (released.length > 0) return released;
    begin(BEFORE, byteLength);
    return [{ stack: BEFORE, bytes: -byteLength }];
  });
  for (const { address, state, stack, requestedBytes } of segments.flatMap((each) => each.blocks)) {
    if (state !== "free" && !live.has(address)) begin(stack, requestedBytes);
  }
  return { changes, start };
}

/** Chooses the moments that a picture shows: all, or of each stretch the extremes. */
function momentsOf(totals: readonly number[]): number[] {
  if (totals.length <= 2 * STRETCH_COUNT) return [...totals.keys()];
  const chosen = new Set([0, totals.length - 1]);
  const length = Math.ceil(totals.length / STRETCH_COUNT);
  for (let start = 0; start < totals.length; start += length) {
    let [lowest, highest] = [start, start];
    for (let at = start; at < Math.min(start + length, totals.length); at++) {
      if ((totals[at] ?? 0) < (totals[lowest] ?? 0)) lowest = at;
      if ((totals[at] ?? 0) > (totals[highest] ?? 0)) highest = at;
    }
    chosen.add(lowest).add(highest);
  }
  return [...chosen].sort((a, b) => a - b);
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
