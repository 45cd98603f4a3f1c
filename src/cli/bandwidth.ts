// `bandwidth`: measures a device's copies and prints a table or JSON.

import { formatBandwidth, shortName } from "../cards/bandwidth_card.ts";
import { CudaDevice } from "../device/device.ts";
import { sizesUpTo } from "../measure/bandwidth.ts";
import type { BandwidthResult } from "../measure/bandwidth_result.ts";
import { ProgressBar } from "../notebook/progress_bar.ts";
import { formatBytes } from "../words/format.ts";
import type { CliOptions } from "./arguments.ts";

/** Runs the command. */
export async function runBandwidth(options: CliOptions): Promise<number> {
  using gpu = CudaDevice.open(options.ordinal, { driver: options.driver });
  const result = await measure(gpu, { largestBytes: options.largestBytes, quiet: options.json });
  console.log(options.json ? JSON.stringify(result, null, 2) : formatBandwidth(result));
  return isVerified(result) ? 0 : 1;
}

/** Runs a sweep with a progress bar. */
export async function measure(
  gpu: CudaDevice,
  options: { largestBytes: number; quiet?: boolean },
): Promise<BandwidthResult> {
  const sizes = sizesUpTo(options.largestBytes);
  if (options.quiet === true) return await gpu.bandwidth({ sizes });
  const bar = new ProgressBar("Measuring");
  try {
    return await gpu.bandwidth({
      sizes,
      onProgress: (done, total, point) =>
        bar.update(done, total, `${shortName(point)} ${formatBytes(point.byteLength)}`),
    });
  } finally {
    bar.finish();
  }
}

/** Whether the bytes of all points were correct. */
export function isVerified(result: BandwidthResult): boolean {
  return result.points.every((point) => point.verified);
}
