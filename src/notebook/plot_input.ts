// Checks of the arguments of plots: notebooks have no compiler that would notice a forgotten await.

import { CudaDevice } from "../device/device.ts";
import { type OptionKind, requireKind } from "../words/options.ts";

/** A device. */
export const DEVICE: OptionKind = {
  expected: "a device",
  accepts: (value) => value instanceof CudaDevice,
};

/**
 * Rejects a value that is not a device.
 *
 * @throws TypeError that names the call.
 */
export function requireDevice(gpu: CudaDevice, call: string): void {
  requireKind(gpu, DEVICE, call);
}

/** A plot and the result that it takes. */
export interface PlotInput {
  /** The action, for messages: `"plot bandwidth"`. */
  readonly action: string;
  /** The call whose result it takes: `"gpu.bandwidth()"`. */
  readonly source: string;
  /** A property that every such result has. */
  readonly key: string;
}

/**
 * Rejects a value that is not a result of the call that the plot names.
 *
 * @throws TypeError for a promise of a result, and for anything else.
 */
export function checkPlotInput(value: unknown, { action, source, key }: PlotInput): void {
  if (value instanceof Promise) {
    throw new TypeError(`Cannot ${action}: ${source} gave a promise, write await ${source}`);
  }
  if (typeof value === "object" && value !== null && key in value) return;
  throw new TypeError(`Cannot ${action}: expected what await ${source} gives`);
}
