// What plots are made of, checked: notebooks have no compiler that would notice a forgotten await.

import { CudaDevice } from "../device.ts";
import { type OptionKind, requireKind } from "../options.ts";

const DEVICE: OptionKind = {
  expected: "a device",
  accepts: (value) => value instanceof CudaDevice,
};

/**
 * Refuses what is no device.
 *
 * @throws TypeError that names the call.
 */
export function requireDevice(gpu: CudaDevice, call: string): void {
  requireKind(gpu, DEVICE, call);
}

/** Which plot, and what it is a plot of. */
export interface PlotInput {
  /** What the plot does: `"plot bandwidth"`. */
  readonly action: string;
  /** The call whose result it takes: `"gpu.bandwidth()"`. */
  readonly source: string;
  /** The property by which such a result is known. */
  readonly key: string;
}

/**
 * Refuses what is no result of the call that the plot names.
 *
 * @throws TypeError for a promise of one, and for anything else.
 */
export function checkPlotInput(value: unknown, { action, source, key }: PlotInput): void {
  if (value instanceof Promise) {
    throw new TypeError(`Cannot ${action}: ${source} gave a promise, write await ${source}`);
  }
  if (typeof value === "object" && value !== null && key in value) return;
  throw new TypeError(`Cannot ${action}: expected what await ${source} gives`);
}
