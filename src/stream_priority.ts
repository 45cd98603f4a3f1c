// The priority of a stream, in words and as the driver's number.

import type { Context } from "./context.ts";

/** Priority of a stream's kernels; copies are not reordered by it. */
export type StreamPriority = "low" | "normal" | "high";

/**
 * The driver's number for a priority: smaller is more urgent (cuCtxGetStreamPriorityRange).
 */
export function priorityNumber(context: Context, priority: StreamPriority): number {
  if (priority === "normal") return 0;
  const least = new Int32Array(1);
  const greatest = new Int32Array(1);
  context.call("cuCtxGetStreamPriorityRange", least, greatest);
  return (priority === "high" ? greatest[0] : least[0]) ?? 0;
}
