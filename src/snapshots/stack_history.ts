// Memory over time by stack, from the steps of the allocator: the amounts before them follow from those
// at the end.

import { BEFORE, namesOf, type SnapshotStack } from "./stacks.ts";
import type { SnapshotBlock, SnapshotEvent, SnapshotSegment } from "./snapshot_form.ts";

/** The amounts of one stack, or of several together. */
export interface StackAmounts {
  readonly name: string;
  /** Undefined for several stacks together. */
  readonly stack?: SnapshotStack | undefined;
  /** Bytes at each moment. */
  readonly bytes: readonly number[];
  readonly peakBytes: number;
}

/** Memory of one device over time. */
export interface StackHistory {
  /** The moments that were chosen, as numbers of steps. */
  readonly steps: readonly number[];
  /** The largest stacks first, and all others together. */
  readonly amounts: readonly StackAmounts[];
  /** Bytes taken from the driver at each moment. */
  readonly reservedBytes: readonly number[];
  /** The most that was held at once, and the step after which. */
  readonly peakBytes: number;
  readonly peakStep: number;
}

/** One change of what is held: a stack's bytes, or those taken from the driver. */
interface Change {
  readonly step: number;
  readonly stack: SnapshotStack | undefined;
  readonly bytes: number;
}

/** Moments in a picture: of each stretch of the history its highest and its lowest. */
const STRETCH_COUNT = 300;

const RESERVED: Readonly<Record<string, number>> = {
  segment_alloc: 1,
  segment_map: 1,
  segment_free: -1,
  segment_unmap: -1,
};

/** Follows what is held, by the place where it was allocated; `stackCount` of them are told apart. */
export function stackHistory(
  { events, segments }: {
    readonly events: readonly SnapshotEvent[];
    readonly segments: readonly SnapshotSegment[];
  },
  stackCount: number,
): StackHistory {
  const { changes, start } = changesOf(events, segments);
  const peaks = peaksOf(changes, start);
  const largest = [...peaks].sort(([, a], [, b]) => b - a).slice(0, stackCount)
    .map(([stack]) => stack);
  const names = namesOf(largest);
  const places = new Map(largest.map((stack, place) => [stack, place]));
  const { steps, peakBytes, peakStep } = momentsOf(changes, start, events.length);
  // The last two are all other stacks, and what is taken from the driver.
  const rows = Array.from(
    { length: largest.length + 2 },
    () => ({ held: 0, bytes: [] as number[] }),
  );
  const rowOf = (stack: SnapshotStack | undefined) =>
    rows[stack === undefined ? largest.length + 1 : places.get(stack) ?? largest.length];
  for (const [stack, bytes] of start) {
    const row = rowOf(stack);
    if (row !== undefined) row.held += bytes;
  }
  let next = 0;
  for (const step of steps) {
    for (let change = changes[next]; change && change.step <= step; change = changes[++next]) {
      const row = rowOf(change.stack);
      if (row !== undefined) row.held += change.bytes;
    }
    for (const row of rows) row.bytes.push(Math.max(0, row.held));
  }
  const most = (bytes: readonly number[]) => bytes.reduce((a, b) => Math.max(a, b), 0);
  const restCount = peaks.size - largest.length;
  const rest = rows[largest.length]?.bytes ?? [];
  return {
    steps,
    amounts: [
      ...largest.map((stack, place) => ({
        name: names.get(stack) ?? stack.name,
        stack,
        bytes: rows[place]?.bytes ?? [],
        peakBytes: peaks.get(stack) ?? 0,
      })),
      ...restCount === 0
        ? []
        : [{ name: `${restCount} smaller`, bytes: rest, peakBytes: most(rest) }],
    ],
    reservedBytes: rows[largest.length + 1]?.bytes ?? [],
    peakBytes,
    peakStep,
  };
}

/** Returns the changes, and the bytes of each stack before the first. */
function changesOf(events: readonly SnapshotEvent[], segments: readonly SnapshotSegment[]) {
  const changes: Change[] = [];
  const start = new Map<SnapshotStack | undefined, number>();
  const live = new Map<number, Pick<SnapshotBlock, "stack" | "requestedBytes">>();
  const begin = (stack: SnapshotStack | undefined, bytes: number) =>
    start.set(stack, (start.get(stack) ?? 0) + bytes);
  begin(undefined, segments.reduce((sum, { byteLength }) => sum + byteLength, 0));
  const release = (step: number, address: number) => {
    const { stack, requestedBytes } = live.get(address) ?? {};
    live.delete(address);
    if (stack !== undefined) changes.push({ step, stack, bytes: -(requestedBytes ?? 0) });
    return stack !== undefined;
  };
  for (const [step, { action, address, byteLength, stack }] of events.entries()) {
    const sign = RESERVED[action];
    if (sign !== undefined) {
      changes.push({ step, stack: undefined, bytes: sign * byteLength });
      begin(undefined, -sign * byteLength);
    } else if (action === "alloc") {
      release(step, address); // its free was not recorded
      live.set(address, { stack, requestedBytes: byteLength });
      changes.push({ step, stack, bytes: byteLength });
    } else if (action === "free_completed" && !release(step, address)) {
      begin(BEFORE, byteLength);
      changes.push({ step, stack: BEFORE, bytes: -byteLength });
    }
  }
  for (
    const { address, state, stack, requestedBytes } of segments.flatMap(({ blocks }) => blocks)
  ) {
    if (state !== "free" && !live.has(address)) begin(stack, requestedBytes);
  }
  return { changes, start };
}

/** Returns the most that each stack held. */
function peaksOf(
  changes: readonly Change[],
  start: ReadonlyMap<SnapshotStack | undefined, number>,
) {
  const held = new Map(start);
  const peaks = new Map<SnapshotStack, number>();
  for (const [stack, bytes] of start) if (stack !== undefined) peaks.set(stack, bytes);
  for (const { stack, bytes } of changes) {
    if (stack === undefined) continue;
    const now = (held.get(stack) ?? 0) + bytes;
    held.set(stack, now);
    peaks.set(stack, Math.max(peaks.get(stack) ?? 0, now));
  }
  return peaks;
}

/** Chooses the steps that a picture shows: all, or in a long history the extremes of each stretch. */
function momentsOf(
  changes: readonly Change[],
  start: ReadonlyMap<SnapshotStack | undefined, number>,
  stepCount: number,
) {
  let held = 0;
  for (const [stack, bytes] of start) if (stack !== undefined) held += bytes;
  let [peakBytes, peakStep] = [held, -1];
  const stretch = Math.max(1, stepCount / (2 * STRETCH_COUNT));
  const chosen = new Set([-1]);
  let [current, low, high] = [-1, { step: -1, held }, { step: -1, held }];
  const close = () => {
    for (const { step } of [low, high]) chosen.add(step);
  };
  for (const { step, stack, bytes } of changes) {
    held += stack === undefined ? 0 : bytes;
    const place = Math.floor(step / stretch);
    if (place !== current) {
      close();
      [current, low, high] = [place, { step, held }, { step, held }];
    }
    if (held < low.held || step === low.step) low = { step, held };
    if (held > high.held || step === high.step) high = { step, held };
    if (held > peakBytes) [peakBytes, peakStep] = [held, step];
  }
  close();
  chosen.add(Math.max(-1, stepCount - 1));
  return { steps: [...chosen].sort((a, b) => a - b), peakBytes, peakStep };
}
