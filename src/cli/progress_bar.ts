// Progress on one line of a terminal, or as a line now and then where output goes to a file.

/** Shows how far a job is. */
export class ProgressBar {
  readonly #title: string;
  readonly #isTerminal: boolean;
  #lastTenth = -1;

  /** Starts at nothing done. */
  constructor(title: string, isTerminal: boolean = Deno.stdout.isTerminal()) {
    this.#title = title;
    this.#isTerminal = isTerminal;
  }

  /** Shows that `done` of `total` is done; `note` says what was last. */
  update(done: number, total: number, note = ""): void {
    if (this.#isTerminal) return this.#draw(done, total, note);
    const tenth = Math.floor((10 * done) / total);
    if (tenth === this.#lastTenth) return;
    this.#lastTenth = tenth;
    console.log(`${this.#title}: ${tenth * 10} %`);
  }

  /** Leaves the terminal's line. */
  finish(): void {
    if (this.#isTerminal) write("\r\x1b[K");
  }

  #draw(done: number, total: number, note: string): void {
    const width = 30;
    const filled = Math.round((width * done) / total);
    const bar = "█".repeat(filled) + "░".repeat(width - filled);
    write(`\r\x1b[K${this.#title} ${bar} ${done}/${total} ${note}`);
  }
}

function write(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}
