// The amounts of a snapshot: of each device, and of each place in the program.

import type { SnapshotContents, SnapshotSegment } from "./snapshot_form.ts";
import type { SnapshotStack } from "./stacks.ts";

/** The memory of one device in a snapshot, in bytes. */
export interface SnapshotDevice {
  /** Its index. */
  readonly device: number;
  /** Memory taken from the driver: `torch.cuda.memory_reserved()`. */
  readonly reservedBytes: number;
  /** Blocks that the program uses: `torch.cuda.memory_allocated()`. */
  readonly allocatedBytes: number;
  /** The same blocks, and those that a stream still uses: `active_bytes` of the statistics. */
  readonly activeBytes: number;
  /** The part of active blocks that the program asked for: `requested_bytes`. */
  readonly requestedBytes: number;
}

/** The memory that one place in the program holds. */
export interface StackUsage {
  /** The place. */
  readonly stack: SnapshotStack;
  /** Bytes, with those lost to rounding. */
  readonly byteLength: number;
  /** Number of blocks. */
  readonly count: number;
}

/** A snapshot, as plots take it. */
export interface SnapshotFacts extends SnapshotContents {
  readonly name: string;
  readonly devices: readonly SnapshotDevice[];
  readonly reservedBytes: number;
  readonly activeBytes: number;
}

/** Adds up the memory of each device that holds some, or has a history. */
export function devicesOf({ segments, events }: SnapshotContents): SnapshotDevice[] {
  const indices = new Set(segments.map(({ device }) => device));
  for (const [device, { length }] of events.entries()) if (length > 0) indices.add(device);
  return [...indices].sort((a, b) => a - b).map((device) => {
    const amounts = { reservedBytes: 0, allocatedBytes: 0, activeBytes: 0, requestedBytes: 0 };
    for (const { byteLength, blocks } of segments.filter((each) => each.device === device)) {
      amounts.reservedBytes += byteLength;
      for (const block of blocks) {
        amounts.requestedBytes += block.requestedBytes;
        if (block.state !== "free") amounts.activeBytes += block.byteLength;
        if (block.state === "allocated") amounts.allocatedBytes += block.byteLength;
      }
    }
    return { device, ...amounts };
  });
}

/** Adds up blocks by the place where they were allocated, the largest first. */
export function usagesOf(segments: readonly SnapshotSegment[]): StackUsage[] {
  const used = segments.flatMap(({ blocks }) => blocks.filter(({ state }) => state !== "free"));
  return [...Map.groupBy(used, ({ stack }) => stack)].map(([stack, blocks]) => ({
    stack,
    byteLength: blocks.reduce((sum, { byteLength }) => sum + byteLength, 0),
    count: blocks.length,
  })).sort((a, b) => b.byteLength - a.byteLength);
}
