// The values of nvidia-smi for a device in a cell, kept up to date while other cells run.

import { showCard } from "../cards/show_card.ts";
import { systemCard } from "../cards/system_card.ts";
import type { CudaDevice } from "../device/device.ts";
import { startMeter } from "./device_meter.ts";
import { type LiveWatch, type ShownWatchOptions, WATCH_OPTIONS } from "./live_watch.ts";

/**
 * Shows a device's load, memory of all programs, temperature, power and clocks, as `gpu.system()`
 * returns them, and keeps them up to date while other cells run. It stops when its cell runs again,
 * when the device is disposed, or by `stop()`.
 *
 * @throws TypeError outside notebooks, unless a display is given.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { systemMeter } from "vramkit/notebook";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using _meter = systemMeter(gpu, {
 *   intervalSeconds: 2,
 *   display: { show: (bundle) => console.log(bundle["text/plain"]) }, // a cell needs no display
 * });
 * ```
 */
export function systemMeter(
  gpu: CudaDevice,
  options: ShownWatchOptions = {},
): LiveWatch {
  return startMeter(gpu, {
    ...WATCH_OPTIONS.read(options, "systemMeter"),
    name: "system meter",
    instead: "gpu.system()",
    draw: () => showCard(() => systemCard(gpu.system())),
  });
}
