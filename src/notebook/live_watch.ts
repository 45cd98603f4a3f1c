// A task that checks a device regularly while other cells run, until its cell runs again.

import type { DisplayBundle } from "../cards/show_card.ts";
import type { CudaDevice } from "../device/device.ts";
import { describeValue } from "../words/format.ts";
import { NUMBER, type OptionKind, OptionSet, warnOfFailure } from "../words/options.ts";
import { timerMilliseconds } from "../words/timer.ts";
import { warn } from "../words/warning.ts";
import { DEVICE } from "./plot_input.ts";

const watches = new Map<string, LiveWatch>();

/** Options of a watch. */
export interface WatchOptions {
  /** Seconds between two runs; 1 by default. */
  readonly intervalSeconds?: number | undefined;
}

/** Options of a watch that shows its result. */
export interface ShownWatchOptions extends WatchOptions {
  /** Display for the result; an output of the cell by default. */
  readonly display?: { show(bundle: DisplayBundle): void } | undefined;
}

const DISPLAY: OptionKind = {
  expected: "an object with show()",
  accepts: (value) => typeof Object(value).show === "function",
};

/** Checks the options above. */
export const WATCH_OPTIONS: OptionSet<ShownWatchOptions> = new OptionSet({
  intervalSeconds: NUMBER,
  display: DISPLAY,
});

export interface WatchTask extends WatchOptions {
  /** Name; starting another watch of the same name on the same device ends this one. */
  readonly name: string;
  /** Runs once; returns a promise if a program's display shows the result later. */
  readonly look: () => unknown;
  /** Called once when the watch has ended: its device was disposed, or it was stopped. */
  readonly end?: () => unknown;
}

/** A task that repeats; it ends by itself when its device is disposed or the task fails. */
export class LiveWatch implements Disposable {
  readonly #task: WatchTask;
  readonly #key: string;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @ignore Names a watch; {@link LiveWatch.start} starts it. */
  private constructor(task: WatchTask, key: string) {
    this.#task = task;
    this.#key = key;
  }

  /** @ignore Runs the task at once and then regularly, and ends a former watch of the same name. */
  static start(gpu: CudaDevice, task: WatchTask): LiveWatch {
    if (!DEVICE.accepts(gpu)) {
      throw new TypeError(
        `Cannot start a ${task.name}: it was given ${describeValue(gpu)}, expected a device`,
      );
    }
    const { intervalSeconds = 1 } = task;
    if (!(intervalSeconds > 0 && intervalSeconds < Infinity)) {
      throw new RangeError(
        `Cannot look every ${intervalSeconds} seconds: expected a number above 0`,
      );
    }
    const key = `${task.name} ${gpu.ordinal} ${gpu.info.uuid}`;
    watches.get(key)?.stop();
    const watch = new LiveWatch(task, key);
    const look = () => warnOfFailure(task.look(), watch.#failed);
    look();
    const step = (): void => {
      if (gpu.disposed) return watch.stop();
      try {
        look();
      } catch (error) {
        // An error thrown by a timer while a cell waits would stop the kernel from answering.
        warn(`${task.name} ended: ${error}`);
        watch.stop();
      }
    };
    watch.#timer = setInterval(step, timerMilliseconds(1000 * intervalSeconds));
    Deno.unrefTimer(watch.#timer);
    watches.set(key, watch);
    return watch;
  }

  /** Tells whether it is still running. */
  get isRunning(): boolean {
    return this.#timer !== undefined;
  }

  /** Stops the watch; a second call does nothing. */
  stop(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (watches.get(this.#key) === this) watches.delete(this.#key);
    try {
      warnOfFailure(this.#task.end?.(), this.#failed);
    } catch (error) {
      warn(`${this.#failed}: ${error}`);
    }
  }

  /** The words before the failure of a display. */
  get #failed(): string {
    return `${this.#task.name}: its display failed`;
  }

  /** Same as {@link LiveWatch.stop}, for `using`. */
  [Symbol.dispose](): void {
    this.stop();
  }

  /** Returns its name for messages: `memory meter, until its cell runs again`. */
  toString(): string {
    return `${this.#task.name}, ${this.isRunning ? "until its cell runs again" : "stopped"}`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }
}
