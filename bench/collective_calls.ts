// The collective operations that the bench makes, for groups of one process and of several.

import type { DeviceBuffer } from "../mod.ts";
import type { DeviceGroup, GroupWork } from "../src/entries/group.ts";

/** All of them. */
export const CALLS = ["allReduce", "broadcast", "allGather", "reduceScatter", "allToAll"] as const;

/** One of them. */
export type Call = (typeof CALLS)[number];

/** What a process is to measure. */
export interface RankPlan {
  readonly rendezvous: string;
  readonly rank: number;
  readonly size: number;
  readonly isSimulated: boolean;
  readonly calls: readonly Call[];
  /** Sizes, and how often a sample repeats the call. */
  readonly sizes: readonly (readonly [bytes: number, repeats: number])[];
  readonly samples: number;
  readonly waits: number;
}

/** Makes one call. */
export function callOn(
  group: DeviceGroup,
  call: Call,
  { wholes, others, parts }: Record<"wholes" | "others" | "parts", DeviceBuffer<"float32">[]>,
): GroupWork {
  if (call === "allReduce") return group.allReduce(wholes);
  if (call === "broadcast") return group.broadcast(wholes);
  if (call === "allGather") return group.allGather(parts, { into: wholes });
  if (call === "reduceScatter") return group.reduceScatter(wholes, { into: parts });
  return group.allToAll(wholes, { into: others });
}
