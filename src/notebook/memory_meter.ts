// A device's card that stays up to date while other cells run.

import { inNotebook } from "../accounting/notebook_kernel.ts";
import { showCard } from "../cards/card.ts";
import { deviceCard } from "../cards/device_card.ts";
import type { CudaDevice } from "../device.ts";
import { LiveDisplay } from "./live_display.ts";
import { LiveWatch, type ShownWatchOptions, WATCH_OPTIONS } from "./live_watch.ts";

/**
 * Shows what a device's memory is used for, and goes on showing it while other cells run. It stops
 * when its cell runs again, when the device is disposed, or by `stop()`. Other programs' memory counts.
 *
 * @throws TypeError outside notebooks, unless a display is given.
 *
 * @example
 * ```ts ignore
 * memoryMeter(gpu);
 * ```
 */
export function memoryMeter(
  gpu: CudaDevice,
  options: ShownWatchOptions = {},
): LiveWatch {
  const { display = new LiveDisplay(), ...rest } = WATCH_OPTIONS.read(options, "memoryMeter");
  if (options.display === undefined && !inNotebook()) {
    throw new TypeError(
      "Cannot show a memory meter: this program is no notebook; print gpu.report() or gpu.memory, " +
        "or pass a { display } of your own",
    );
  }
  return LiveWatch.start(gpu, {
    ...rest,
    name: "memory meter",
    look: () => display.show(showCard(() => deviceCard(gpu))),
  });
}
