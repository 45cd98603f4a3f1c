// The common part of a device's live cards: their display, and their regular redrawing.

import { inNotebook } from "../accounting/notebook_kernel.ts";
import type { Card } from "../cards/card.ts";
import { type DisplayBundle, showCard } from "../cards/show_card.ts";
import type { CudaDevice } from "../device/device.ts";
import { LiveDisplay } from "./live_display.ts";
import { LiveWatch, type ShownWatchOptions } from "./live_watch.ts";

/** A live card. */
export interface Meter {
  /** Name, such as `"memory meter"`. */
  readonly name: string;
  /** Advice for programs outside notebooks: what to print instead. */
  readonly instead: string;
  /** Makes the current card. */
  readonly draw: () => DisplayBundle;
}

/**
 * Shows a card of a device and keeps redrawing it.
 *
 * @throws TypeError outside notebooks, unless a display is given.
 */
export function startMeter(
  gpu: CudaDevice,
  { name, instead, draw, display, ...watch }: Meter & ShownWatchOptions,
): LiveWatch {
  if (display === undefined && !inNotebook()) {
    throw new TypeError(
      `Cannot show a ${name}: this program is not a notebook; print ${instead}, ` +
        "or pass a { display } of your own",
    );
  }
  const surface = display ?? new LiveDisplay();
  return LiveWatch.start(gpu, {
    ...watch,
    name,
    look: () => surface.show(draw()),
    end: () => surface.show(showCard(() => endCard(gpu, name))),
  });
}

function endCard({ name: title }: CudaDevice, kind: string): Card {
  const summary = `The device was disposed: this ${kind} has ended`;
  return { title, kind, state: "disposed", summary, parts: [] };
}
