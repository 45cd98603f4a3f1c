// A device's cards that stay up to date while other cells run: its memory, and its state in the system.

import { inNotebook } from "../accounting/notebook_kernel.ts";
import type { Card } from "../cards/card.ts";
import { deviceCard } from "../cards/device_card.ts";
import { showCard } from "../cards/show_card.ts";
import { systemCard } from "../cards/system_card.ts";
import type { CudaDevice } from "../device/device.ts";
import { LiveDisplay } from "./live_display.ts";
import { LiveWatch, type ShownWatchOptions, WATCH_OPTIONS } from "./live_watch.ts";

/** A live card. */
interface Meter {
  /** Name, such as `"memory meter"`. */
  readonly name: string;
  /** Advice for programs outside notebooks: what to print instead. */
  readonly instead: string;
  readonly card: () => Card;
}

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
    card: () => deviceCard(gpu),
  });
}

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
    card: () => systemCard(gpu.system()),
  });
}

/**
 * Shows a card of a device and keeps redrawing it.
 *
 * @throws TypeError outside notebooks, unless a display is given.
 */
function startMeter(
  gpu: CudaDevice,
  { name, instead, card, display, ...watch }: Meter & ShownWatchOptions,
): LiveWatch {
  if (display === undefined && !inNotebook()) {
    throw new TypeError(
      `Cannot show a ${name}: this program is not a notebook; print ${instead}, ` +
        "or pass a { display } of your own",
    );
  }
  const surface = display ?? new LiveDisplay();
  let last: Card = { title: name, kind: "", summary: "", parts: [] };
  let readAt = timeNow();
  const show = (words: string, state = last.state) => {
    const note = { type: "note", text: `read at ${readAt}${words}` } as const;
    return surface.show(showCard(() => ({ ...last, state, parts: [...last.parts, note] })));
  };
  return LiveWatch.start(gpu, {
    ...watch,
    name,
    look: () => {
      [last, readAt] = [card(), timeNow()];
      // A page that was saved, or whose kernel is gone, shows this as well.
      return show(`, and kept up to date as long as this ${name} runs`);
    },
    end: () =>
      gpu.disposed
        ? show(`; this ${name} has ended: its device was disposed`, "disposed")
        : show(`; this ${name} has ended`),
  });
}

/** The local date and time, such as `2026-03-14 15:09:26`. */
function timeNow(): string {
  return new Date().toLocaleString("sv");
}
