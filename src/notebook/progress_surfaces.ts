// Surfaces for progress: an output of a cell, one line of a terminal, or a line now and then.

import { inNotebook } from "../accounting/notebook_kernel.ts";
import type { BarSegment } from "../cards/card.ts";
import { showCard } from "../cards/show_card.ts";
import { cut } from "../words/format.ts";
import type { OptionKind } from "../words/options.ts";
import { printOrLose } from "../words/warning.ts";
import { LiveDisplay } from "./live_display.ts";

/** The state of a job. */
export interface ProgressState {
  /** Name of the job. */
  readonly title: string;
  /** Amount that is done. */
  readonly done: number;
  /** Amount in all. */
  readonly total: number;
  /** The state in words. */
  readonly words: string;
}

/** A surface that shows the state of a job. */
export interface ProgressSurface {
  /** Shortest time between two drawings, in milliseconds. */
  readonly pauseMilliseconds: number;
  /** Draws a state. */
  draw(state: ProgressState): void;
  /** Draws the last state. */
  finish(state: ProgressState): void;
  /** Draws a job that has stopped, and leaves it there; by default as `draw()` does. */
  stop?(state: ProgressState): void;
}

/** Checks that an option is a surface. */
export const SURFACE: OptionKind = {
  expected: "an object with draw() and finish()",
  accepts: (value) => {
    const { draw, finish } = Object(value);
    return typeof draw === "function" && typeof finish === "function";
  },
};

/**
 * Returns the surface that fits this program's output. Outside of notebooks that is standard error,
 * so that a pipe or a file gets only the program's results. A terminal keeps the last line unless
 * told otherwise.
 */
export function progressSurface({ keepsLine = true } = {}): ProgressSurface {
  if (inNotebook()) return new CellSurface();
  return Deno.stderr.isTerminal() ? new TerminalSurface({ keepsLine }) : new LogSurface();
}

/** Redraws one output of the cell. */
class CellSurface implements ProgressSurface {
  readonly pauseMilliseconds = 100;
  readonly #display = new LiveDisplay();

  draw({ title, done, total, words }: ProgressState): void {
    const isOpen = total === Infinity; // an empty bar, until the length is known
    const segments: BarSegment[] = [
      { name: "done", amount: isOpen ? 0 : done, text: "", fill: "solid" },
      { name: "left", amount: isOpen ? 1 : Math.max(0, total - done), text: "", fill: "empty" },
    ];
    const parts = [{ type: "bar", segments } as const];
    this.#display.show(showCard(() => ({ title, kind: "", summary: words, parts })));
  }

  finish(state: ProgressState): void {
    this.draw(state);
  }
}

/** Redraws one line, and leaves its last state there, or an empty line, when the job is over. */
export class TerminalSurface implements ProgressSurface {
  readonly pauseMilliseconds = 50;
  readonly #keepsLine: boolean;

  constructor({ keepsLine = true } = {}) {
    this.#keepsLine = keepsLine;
  }

  draw({ title, done, total, words }: ProgressState): void {
    const room = columnCount() - 1; // what reaches the last column may go on in the next line
    const width = Math.max(MIN_BAR, Math.min(MAX_BAR, room - title.length - words.length - 2));
    const filled = total > 0 ? Math.min(width, Math.round(width * done / total)) : width;
    const line = `${title} ${"█".repeat(filled)}${"░".repeat(width - filled)} ${words}`;
    write(`\r\x1b[K${cut(line, room)}`);
  }

  finish(state: ProgressState): void {
    if (this.#keepsLine) this.stop(state);
    else write("\r\x1b[K");
  }

  stop(state: ProgressState): void {
    this.draw(state);
    write("\n");
  }
}

/** Columns of a terminal's bar. */
const MIN_BAR = 8;
const MAX_BAR = 30;

/** Columns of the terminal; 80 where it does not tell. */
function columnCount(): number {
  try {
    return Deno.consoleSize().columns || 80;
  } catch {
    return 80;
  }
}

/** Prints a line for each tenth, because a file cannot be redrawn. */
export class LogSurface implements ProgressSurface {
  readonly pauseMilliseconds = 0;
  #lastTenth = -1;

  draw({ title, done, total }: ProgressState): void {
    const tenth = total > 0 ? Math.floor(10 * done / total) : 10;
    if (tenth === this.#lastTenth) return;
    this.#lastTenth = tenth;
    printOrLose(() => console.error(`${title}: ${tenth * 10} %`));
  }

  finish(state: ProgressState): void {
    this.draw(state);
  }

  stop({ title, words }: ProgressState): void {
    printOrLose(() => console.error(`${title}: ${words}`));
  }
}

/** A job goes on even when the terminal is gone. */
function write(text: string): void {
  printOrLose(() => Deno.stderr.writeSync(new TextEncoder().encode(text)));
}
