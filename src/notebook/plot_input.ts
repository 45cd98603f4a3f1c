// Checks of the arguments of plots: notebooks have no compiler that would notice a forgotten await.

import { CudaDevice } from "../device/device.ts";
import { BandwidthResult } from "../measure/bandwidth_result.ts";
import { isRecord, type OptionKind } from "../words/options.ts";

export const DEVICE: OptionKind = {
  expected: "a device",
  accepts: (value) => value instanceof CudaDevice,
};

/** A plot and the result that it takes. */
export interface PlotInput {
  /** The action, for messages: `"plot bandwidth"`. */
  readonly action: string;
  /** The call whose result it takes: `"gpu.bandwidth()"`. */
  readonly source: string;
  /** A property that every such result has. */
  readonly key: string;
  /** The class of such results, if it reads them as plain data, such as parsed JSON. */
  readonly Result?: new (data: never) => unknown;
}

/** The result of a bandwidth sweep, without the action. */
export const BANDWIDTH: Omit<PlotInput, "action"> = {
  source: "gpu.bandwidth()",
  key: "points",
  Result: BandwidthResult,
};

/**
 * Rejects a value that is not a result of the call that the plot names.
 *
 * @throws TypeError for a promise of a result, for damaged data, and for anything else.
 */
export function checkPlotInput(value: unknown, { action, source, key, Result }: PlotInput): void {
  if (value instanceof Promise) {
    throw new TypeError(`Cannot ${action}: ${source} gave a promise, write await ${source}`);
  }
  if (typeof value !== "object" || value === null || !(key in value)) {
    throw new TypeError(`Cannot ${action}: expected what await ${source} gives`);
  }
  if (Result !== undefined && isRecord(value)) new Result(value as never);
}
