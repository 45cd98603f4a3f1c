// show(): puts values into a cell's output and makes sure that they arrive there.

import { inNotebook } from "../accounting/notebook_kernel.ts";

/**
 * The kernel says that a cell is over before it has sent all outputs; what comes later is lost or
 * lands in the next cell. After 5 ms none of 100 was lost, so this leaves room.
 */
const FLUSH_MILLISECONDS = 30;

/**
 * Shows values one below the other and resolves when they have surely been sent; outside notebooks
 * it prints them.
 *
 * @example
 * ```ts ignore
 * await show(gpu, weights, plotMemoryMap(gpu));
 * ```
 */
export async function show(...values: readonly unknown[]): Promise<void> {
  if (!inNotebook()) {
    for (const value of values) console.log(value);
    return;
  }
  for (const value of values) await Deno.jupyter.display(value);
  await new Promise((resolve) => setTimeout(resolve, FLUSH_MILLISECONDS));
}
