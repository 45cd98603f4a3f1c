// Memory that an earlier run of a cell left behind: blocks of one label, made at one place of a cell
// by several of its runs.

import { type CellRuns, cellRuns, isInCell } from "../accounting/cell_runs.ts";
import { rerunCard } from "../cards/live_card.ts";
import { type DisplayBundle, NOTHING_SHOWN, showCard } from "../cards/show_card.ts";
import type { CudaDevice } from "../device/device.ts";
import type { LiveObject } from "../device/live_query.ts";
import { LiveDisplay } from "./live_display.ts";
import { LiveWatch, type ShownWatchOptions, WATCH_OPTIONS } from "./live_watch.ts";

/**
 * Smallest time between two runs of a cell. The kernel does not report cells that fail, so their
 * runs are distinguished by time: a loop makes blocks faster than this, and people run a cell again
 * more slowly.
 */
const MIN_GAP_SECONDS = 0.4;

/** Returns groups of live blocks that earlier runs of a cell created, which has run again since. */
export function heldByEarlierRuns(
  objects: Iterable<LiveObject>,
  runs: CellRuns = cellRuns,
): LiveObject[][] {
  const blocks = [...objects].filter(({ byteLength, stack }) =>
    byteLength > 0 && isInCell(stack?.[0])
  );
  const groups = Map.groupBy(blocks, ({ stack, kind, name, id, byteLength }) => {
    const label = name === `${kind}#${id}` ? `${kind} ${byteLength}` : name; // the number differs
    return `${stack?.[0]} ${label}`;
  });
  return [...groups.values()].map((group) => earlierOf(group, runs))
    .filter((group) => group.length > 0);
}

/**
 * Watches for memory left by earlier runs of a cell, and shows a warning below the cell that ran
 * again; the warning moves when another cell or run leaves memory. Call it right after opening the
 * device; it stops as {@link memoryMeter} does.
 */
export function warnOfReruns(
  gpu: CudaDevice,
  options: ShownWatchOptions = {},
): LiveWatch {
  const { display, ...rest } = WATCH_OPTIONS.read(options, "warnOfReruns");
  const surface = display ?? new MovingDisplay();
  let shown: ReadonlySet<number> = new Set();
  return LiveWatch.start(gpu, {
    ...rest,
    name: "rerun warning",
    look: () => {
      const groups = heldByEarlierRuns(gpu.live());
      const found = new Set(groups.flat().map(({ id }) => id));
      if (found.symmetricDifference(shown).size === 0) return;
      // Running a cell again removes its outputs, including the former warning.
      if (!found.isSubsetOf(shown) && surface instanceof MovingDisplay) surface.move();
      shown = found;
      return surface.show(groups.length === 0 ? NOTHING_SHOWN : showCard(() => rerunCard(groups)));
    },
  });
}

/** An output that can be put below the cell that ran last. */
class MovingDisplay {
  #display: LiveDisplay | undefined;

  /** Empties the output where it is, and shows the next bundle below the cell that ran last. */
  move(): void {
    this.#display?.show(NOTHING_SHOWN);
    this.#display = undefined;
  }

  show(bundle: DisplayBundle): void {
    this.#display ??= new LiveDisplay();
    this.#display.show(bundle);
  }
}

/** Leaves out what the newest run made: it is held because the cell has just run. */
function earlierOf(group: readonly LiveObject[], runs: CellRuns): LiveObject[] {
  const found = group.map(({ id }) => runs.ofObject(id));
  const numbers = found.map((run) => run?.last ?? 0);
  if (new Set(numbers).size > 1) {
    const newest = Math.max(...numbers);
    return group.filter((_, index) => numbers[index] !== newest);
  }
  const [run] = found;
  if (run !== undefined && run.first === run.last) return []; // it is certain
  const newest = newestAge(group);
  return group.filter(({ ageSeconds }) => ageSeconds > newest);
}

/** The age of the oldest block of the newest run, where only the time between runs tells them apart. */
function newestAge(group: readonly LiveObject[]): number {
  const ages = group.map(({ ageSeconds }) => ageSeconds).sort((a, b) => a - b);
  const gap = ages.findIndex((age, index) => age - (ages[index - 1] ?? age) > MIN_GAP_SECONDS);
  return gap < 0 ? Infinity : ages[gap - 1] ?? Infinity;
}
