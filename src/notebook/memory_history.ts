// The amounts of each kind of memory after each event of a timeline.

import type { TimelineEvent } from "../accounting/timeline_event.ts";

/** Amounts after each allocation and free. */
export interface KindAmounts {
  /** The allocations and frees, oldest first. */
  readonly events: readonly TimelineEvent[];
  /** Bytes of each kind after each event. */
  readonly bytes: ReadonlyMap<string, readonly number[]>;
  /** Bytes of all kinds after each event. */
  readonly totals: readonly number[];
  /** The highest total. */
  readonly peakBytes: number;
}

/** Adds allocations and subtracts frees; the amounts before them follow from those of now. */
export function amountsByKind(
  timeline: readonly TimelineEvent[],
  live: readonly { readonly kind: string; readonly byteLength: number }[],
): KindAmounts {
  const events = timeline.filter(({ action }) => action === "allocate" || action === "free");
  const kinds = new Set(
    [...live.filter(({ byteLength }) => byteLength > 0), ...events].map(({ kind }) => kind),
  );
  const bytes = new Map<string, number[]>();
  for (const kind of kinds) {
    const changes = events.map(({ action, kind: own, byteLength }) => {
      if (own !== kind) return 0;
      return action === "free" ? -byteLength : byteLength;
    });
    const atEnd = sumOf(
      live.filter((object) => object.kind === kind).map((each) => each.byteLength),
    );
    let held = Math.max(0, atEnd - sumOf(changes));
    bytes.set(kind, changes.map((change) => held = Math.max(0, held + change)));
  }
  const totals = events.map((_, index) =>
    sumOf([...bytes.values()].map((each) => each[index] ?? 0))
  );
  return { events, bytes, totals, peakBytes: totals.reduce((a, b) => Math.max(a, b), 0) };
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
