// show(): puts values into a cell's output and waits until they have arrived.

import { displayInCell, inNotebook, whenSent } from "../accounting/notebook_kernel.ts";

/**
 * Shows values, and what promises resolve to, one below the other, and resolves when they have
 * certainly been sent. Outside notebooks it prints them.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { plotMemoryMap, show } from "vramkit/notebook";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using weights = gpu.zeros("float32", [4, 4], { label: "weights" });
 * await show(gpu, weights.describe(), plotMemoryMap(gpu));
 * ```
 */
export async function show(...values: readonly unknown[]): Promise<void> {
  const shown = await Promise.all(values);
  if (!inNotebook()) {
    for (const value of shown) console.log(value);
    return;
  }
  for (const value of shown) await displayInCell(value);
  await whenSent();
}
