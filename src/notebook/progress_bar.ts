// Progress of any job, in a cell, on a terminal or in a log: the same call everywhere.

import { formatBytes, formatSeconds, formatSpeed } from "../format.ts";
import { type ProgressState, type ProgressSurface, progressSurface } from "./progress_surfaces.ts";

/** Shows how far a job is; draws no more often than people can see. */
export class ProgressBar {
  readonly #title: string;
  readonly #surface: ProgressSurface;
  #drawnAt = -Infinity;
  #last: ProgressState | undefined;

  /** Starts at nothing done. */
  constructor(title: string, surface: ProgressSurface = progressSurface()) {
    this.#title = title;
    this.#surface = surface;
  }

  /** Notes that `done` of `total` is done; `words` says it, as `done/total` by default. */
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

/**
 * Makes an `onProgress` for a transfer, which shows a bar with amount, speed and time left.
 *
 * @example
 * ```ts ignore
 * await buffer.upload(array, { onProgress: progress("weights") });
 * ```
 */
export function progress(
  label: string,
  options: { readonly surface?: ProgressSurface } = {},
): (doneBytes: number, totalBytes: number) => void {
  const bar = new ProgressBar(label, options.surface);
  const start = performance.now();
  return (doneBytes, totalBytes) => {
    const seconds = (performance.now() - start) / 1000;
    bar.update(doneBytes, totalBytes, progressWords({ doneBytes, totalBytes, seconds }));
    if (doneBytes >= totalBytes) bar.finish();
  };
}

function progressWords(
  { doneBytes, totalBytes, seconds }: {
    readonly doneBytes: number;
    readonly totalBytes: number;
    readonly seconds: number;
  },
): string {
  const amount = `${formatBytes(doneBytes)} of ${formatBytes(totalBytes)}`;
  if (doneBytes === 0 || seconds === 0) return amount;
  const speed = formatSpeed(doneBytes / seconds / 1e9);
  if (doneBytes >= totalBytes) return `${amount} in ${formatSeconds(seconds)}, ${speed}`;
  const secondsLeft = seconds * (totalBytes - doneBytes) / doneBytes;
  return `${amount}, ${speed}, ${formatSeconds(secondsLeft)} left`;
}
