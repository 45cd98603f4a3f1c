// What nvidia-smi shows of a device, in a cell, up to date while other cells run.

import { type DisplayBundle, showCard } from "../cards/card.ts";
import type { CudaDevice } from "../device.ts";
import { systemCard } from "../device/system_card.ts";
import { startMeter } from "./device_meter.ts";
import type { LiveWatch, WatchOptions } from "./live_watch.ts";

/**
 * Shows a device's load, memory of all programs, temperature, power and clocks, as `gpu.system()`
 * tells them, and goes on showing them while other cells run. It stops when its cell runs again, when
 * the device is disposed, or by `stop()`.
 *
 * @throws TypeError outside notebooks, unless a display is given.
 *
 * @example
 * ```ts ignore
 * systemMeter(gpu, { intervalSeconds: 2 });
 * ```
 */
export function systemMeter(
  gpu: CudaDevice,
  options: WatchOptions & { readonly display?: { show(bundle: DisplayBundle): void } } = {},
): LiveWatch {
  return startMeter(gpu, {
    ...options,
    name: "system meter",
    instead: "gpu.system()",
    draw: () => showCard(() => systemCard(gpu.system())),
  });
}
