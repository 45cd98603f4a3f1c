// A device's card that stays up to date while other cells run.

import { deviceCard } from "../cards/device_card.ts";
import { showCard } from "../cards/show_card.ts";
import type { CudaDevice } from "../device/device.ts";
import { startMeter } from "./device_meter.ts";
import { type LiveWatch, type ShownWatchOptions, WATCH_OPTIONS } from "./live_watch.ts";

/**
 * Shows a device's memory by use, including other programs, and keeps it up to date while other
 * cells run. It stops when its cell runs again, when the device is disposed, or by `stop()`.
 *
 * @throws TypeError outside notebooks, unless a display is given.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { memoryMeter } from "vramkit/notebook";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using _meter = memoryMeter(gpu, {
 *   display: { show: (bundle) => console.log(bundle["text/plain"]) }, // a cell needs no display
 * });
 * ```
 */
export function memoryMeter(
  gpu: CudaDevice,
  options: ShownWatchOptions = {},
): LiveWatch {
  return startMeter(gpu, {
    ...WATCH_OPTIONS.read(options, "memoryMeter"),
    name: "memory meter",
    instead: "gpu.report() or gpu.memory",
    draw: () => showCard(() => deviceCard(gpu)),
  });
}
