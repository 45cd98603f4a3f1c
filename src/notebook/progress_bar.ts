// Progress of any job, in a cell, on a terminal or in a log: the same call everywhere.

import { inNotebook } from "../accounting/notebook_kernel.ts";
import { formatPart, formatSeconds, formatSpeed, messageOf, visibleText } from "../words/format.ts";
import { NUMBER, OptionSet, requireKind, SIGNAL, TEXT, warnOfFailure } from "../words/options.ts";
import { timerMilliseconds } from "../words/timer.ts";
import { warn } from "../words/warning.ts";
import {
  type ProgressState,
  type ProgressSurface,
  progressSurface,
  SURFACE,
} from "./progress_surfaces.ts";

/** The unit of what has no end yet: it must fit the beginning and the end. */
const MEBIBYTE = 2 ** 20;

/** A job in a notebook without progress for so long counts as failed. */
const STALL_SECONDS = 10;

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
    watch(this.#surface.draw(this.#last));
  }

  /** Draws the last state at once with other words, for a job that has stopped. */
  stop(words: string): void {
    this.#last = { title: this.#title, done: 0, total: Infinity, ...this.#last, words };
    const { draw, stop = draw } = this.#surface;
    watch(stop.call(this.#surface, this.#last));
  }

  /** Draws the last state, and leaves a terminal's line. */
  finish(): void {
    if (this.#last !== undefined) watch(this.#surface.finish(this.#last));
  }
}

const UNDRAWN = "a progress bar could not be drawn";

/** A surface that draws asynchronously may fail later. */
function watch(returned: unknown): void {
  warnOfFailure(returned, UNDRAWN);
}

/** Options for {@link progress}. */
export interface ProgressOptions {
  /** Unit that is counted, such as `"layers"`; by default bytes, and measurements of a sweep. */
  readonly unit?: string | undefined;
  /** Surface to draw on; chosen by the program's output by default. */
  readonly surface?: ProgressSurface | undefined;
  /** The job's signal: when it is aborted, the bar says that the job was stopped. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Seconds without progress after which the bar says so, which is how a failed job looks; 10 by
   * default in a notebook, where the bar stays, and never elsewhere.
   */
  readonly stallSeconds?: number | undefined;
}

const PROGRESS_OPTIONS = new OptionSet<ProgressOptions>({
  unit: TEXT,
  surface: SURFACE,
  signal: SIGNAL,
  stallSeconds: NUMBER,
});

/**
 * Returns an `onProgress` callback that shows a bar with the amount, the time left and, for bytes,
 * the speed. Its clock starts with this call, and for each further job when the one before is done.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { progress } from "vramkit/notebook";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * const array = new Float32Array(2 ** 20);
 * using weights = await gpu.upload(array, { onProgress: progress("weights") });
 * await weights.download(array, { onProgress: progress("and back") });
 * ```
 */
export function progress(
  label: string,
  options: ProgressOptions = {},
): (done: number, total: number, found?: object) => void {
  const { unit: ownUnit, surface, signal, stallSeconds = inNotebook() ? STALL_SECONDS : Infinity } =
    options = PROGRESS_OPTIONS.read(options, "progress");
  requireKind(label, TEXT, "progress");
  if (!(stallSeconds > 0)) {
    throw new RangeError(`Cannot wait ${stallSeconds} seconds: expected a number above 0`);
  }
  const bar = new ProgressBar(label, surface);
  let start = performance.now();
  let unit = ownUnit;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = { done: 0, total: Infinity };
  let isStopped = false; // what was under way may still report
  const say = (words: string): void => {
    try {
      bar.stop(words);
    } catch (error) {
      // Listeners and timers have no caller: an error that they throw would end the program.
      warn(`${UNDRAWN}: ${messageOf(error)}`);
    }
  };
  const end = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", sayStopped);
  };
  const sayStopped = (): void => {
    isStopped = true;
    end();
    say(`stopped at ${amountWords(last, unit)}`);
  };
  const sayStalled = (): void => {
    say(`${amountWords(last, unit)}, nothing came for ${formatSeconds(stallSeconds)}`);
  };
  signal?.addEventListener("abort", sayStopped);
  return (done, total, found) => {
    if (isStopped) return;
    clearTimeout(timer);
    unit = ownUnit ?? (found === undefined ? undefined : "measurements"); // a sweep says what it found
    last = { done, total };
    const seconds = (performance.now() - start) / 1000;
    bar.update(done, total, progressWords({ done, total, seconds }, unit));
    if (done >= total) {
      end();
      bar.finish();
      start = performance.now();
    } else if (stallSeconds < Infinity) {
      timer = setTimeout(sayStalled, timerMilliseconds(1000 * stallSeconds));
      Deno.unrefTimer(timer);
    }
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

/** Returns the amount as text, in one unit; a stream of unknown length has no total yet. */
function amountWords({ done, total }: Omit<Pace, "seconds">, unit: string | undefined): string {
  if (unit === undefined) {
    return total === Infinity ? `${(done / MEBIBYTE).toFixed(1)} MiB` : formatPart(done, total);
  }
  return total === Infinity ? `${done} ${unit}` : `${done} of ${total} ${unit}`;
}
