// How urgent a stream is, in words and as the driver's number.

import type { Context } from "./context.ts";

/** How urgent a stream's kernels are; copies are not reordered by it. */
export type StreamPriority = "low" | "normal" | "high";

/**
 * The driver's number for a priority: smaller is more urgent (cuCtxGetStreamPriorityRange).
 *
 * @throws TypeError when it is none.
 */
export function priorityNumber(context: Context, priority: StreamPriority): number {
  const least = new Int32Array(1);
  const greatest = new Int32Array(1);
  if (priority === "normal") return 0;
  context.call("cuCtxGetStreamPriorityRange", least, greatest);
  if (priority === "high") return greatest[0] ?? 0;
  if (priority === "low") return least[0] ?? 0;
  throw new TypeError(
    `Cannot use stream priority ${String(priority)}: expected "low", "normal" or "high"`,
  );
}
