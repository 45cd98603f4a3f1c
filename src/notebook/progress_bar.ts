// Progress of any job, in a cell, on a terminal or in a log: the same call everywhere.

import { formatBytes, formatSeconds, formatSpeed, visibleText } from "../words/format.ts";
import { OptionSet, requireKind, TEXT } from "../words/options.ts";
import {
  type ProgressState,
  type ProgressSurface,
  progressSurface,
  SURFACE,
} from "./progress_surfaces.ts";

/** A progress bar for a job; redraws no more often than people can see. */
export class ProgressBar {
  readonly #title: string;
  readonly #surface: ProgressSurface;
  #drawnAt = -Infinity;
  #last: ProgressState | undefined;

  /** Creates a bar with nothing done. */
  constructor(title: string, surface: ProgressSurface = progressSurface()) {
    requireKind(title, TEXT, "new ProgressBar");
    requireKind(surface, SURFACE, "new ProgressBar");
    this.#title = visibleText(title);
    this.#surface = surface;
  }

  /** Updates the bar to `done` of `total`; `words` is the text, `done/total` by default. */
  update(done: number, total: number, words = `${done}/${total}`): void {
    this.#last = { title: this.#title, done, total, words };
    const now = performance.now();
    if (now - this.#drawnAt < this.#surface.pauseMilliseconds) return;
    this.#drawnAt = now;
    this.#surface.draw(this.#last);
  }

  /** Draws the last state, and leaves a terminal's line. */
  finish(): void {
    if (this.#last !== undefined) this.#surface.finish(this.#last);
  }
}

/** Options for {@link progress}. */
export interface ProgressOptions {
  /** Unit that is counted, such as `"points"`; bytes by default. */
  readonly unit?: string;
  /** Surface to draw on; chosen by the program's output by default. */
  readonly surface?: ProgressSurface;
}

const PROGRESS_OPTIONS = new OptionSet<ProgressOptions>({ unit: TEXT, surface: SURFACE });

/**
 * Returns an `onProgress` callback that shows a bar with the amount, the time left and, for bytes,
 * the speed.
 *
 * @example
 * ```ts ignore
 * await buffer.upload(array, { onProgress: progress("weights") });
 * await gpu.bandwidth({ onProgress: progress("bandwidth", { unit: "points" }) });
 * ```
 */
export function progress(
  label: string,
  options: ProgressOptions = {},
): (done: number, total: number) => void {
  const { unit, surface } = PROGRESS_OPTIONS.read(options, "progress");
  requireKind(label, TEXT, "progress");
  const bar = new ProgressBar(label, surface);
  const start = performance.now();
  return (done, total) => {
    const seconds = (performance.now() - start) / 1000;
    bar.update(done, total, progressWords({ done, total, seconds }, unit));
    if (done >= total) bar.finish();
  };
}

interface Pace {
  readonly done: number;
  readonly total: number;
  readonly seconds: number;
}

function progressWords({ done, total, seconds }: Pace, unit: string | undefined): string {
  const amount = amountWords({ done, total }, unit);
  if (done === 0 || seconds === 0) return amount;
  const speed = unit === undefined ? `, ${formatSpeed(done / seconds / 1e9)}` : "";
  if (done >= total) return `${amount} in ${formatSeconds(seconds)}${speed}`;
  if (total === Infinity) return `${amount}${speed}`;
  return `${amount}${speed}, ${formatSeconds(seconds * (total - done) / done)} left`;
}

/** Returns the amount as text; a stream of unknown length has no total yet. */
function amountWords({ done, total }: Omit<Pace, "seconds">, unit: string | undefined): string {
  const words = (count: number) => unit === undefined ? formatBytes(count) : `${count}`;
  const amount = total === Infinity ? words(done) : `${words(done)} of ${words(total)}`;
  return unit === undefined ? amount : `${amount} ${unit}`;
}
