// Memory that an earlier run of a cell left behind. The kernel does not tell which cell runs, so it is
// found by its traces: blocks of one label, made at one place of a cell, at different times.

import { type DisplayBundle, showCard } from "../cards/card.ts";
import { rerunCard } from "../cards/live_card.ts";
import type { CudaDevice } from "../device.ts";
import type { LiveObject } from "../device/live.ts";
import { LiveDisplay } from "./live_display.ts";
import { LiveWatch, type WatchOptions } from "./live_watch.ts";

/** A loop makes its blocks faster than this; people run a cell again slower. */
const SHORTEST_GAP_SECONDS = 0.4;

/** Finds groups of live blocks that seem to be of several runs of the same cell. */
export function heldByEarlierRuns(objects: Iterable<LiveObject>): LiveObject[][] {
  const blocks = [...objects].filter(({ byteLength, origin }) =>
    byteLength > 0 && origin?.startsWith("cell:") === true
  );
  const groups = Map.groupBy(blocks, ({ origin, kind, name, id }) => {
    const label = name === `${kind}#${id}` ? kind : name; // without a label, the number differs
    return `${origin} ${label}`;
  });
  return [...groups.values()].filter((group) => group.length > 1 && hasGap(group));
}

/**
 * Watches for memory of earlier runs, and shows a warning below the cell when there is some. Put it
 * beside the opening of the device; it stops as {@link memoryMeter} does.
 */
export function warnOfReruns(
  gpu: CudaDevice,
  options: WatchOptions & { readonly display?: { show(bundle: DisplayBundle): void } } = {},
): LiveWatch {
  const { display = new LiveDisplay(), ...rest } = options;
  let shown = "";
  return LiveWatch.start(gpu, {
    ...rest,
    name: "rerun warning",
    look: () => {
      const groups = heldByEarlierRuns(gpu.live());
      const found = groups.flat().map(({ id }) => id).join();
      if (found === shown) return;
      shown = found;
      display.show(groups.length === 0 ? SETTLED : showCard(() => rerunCard(groups)));
    },
  });
}

/** Takes the place of a warning whose memory was freed. */
const SETTLED: DisplayBundle = { "text/html": "", "text/plain": "" };

function hasGap(group: readonly LiveObject[]): boolean {
  const ages = group.map(({ ageSeconds }) => ageSeconds).sort((a, b) => a - b);
  return ages.some((age, index) => age - (ages[index - 1] ?? age) > SHORTEST_GAP_SECONDS);
}
