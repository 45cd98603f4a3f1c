// A process that obeys a test: a line of JSON for each command, and one for what came of it.

import { ON_GPU } from "./driver.ts";
import { TextLineStream } from "./text_lines.ts";

/** What came of a command. */
export type Answer = { readonly value: unknown } | { readonly error: ErrorWords };

/** An error, as a process tells it. */
export interface ErrorWords {
  /** Its class. */
  readonly name: string;
  readonly message: string;
  readonly reason?: string | undefined;
  /** The rank that it names. */
  readonly rank?: number | undefined;
}

/** An error that a process has told. */
export class ToldError extends Error {
  override readonly name = "ToldError";
  /** The error's class there. */
  readonly kind: string;
  /** Its reason, where it has one. */
  readonly reason: string | undefined;
  /** The rank that it names, where it does. */
  readonly rank: number | undefined;

  constructor({ name, message, reason, rank }: ErrorWords) {
    super(message);
    this.kind = name;
    this.reason = reason;
    this.rank = rank;
  }
}

/** A process that obeys; ends with `await using`. */
export abstract class ObedientProcess<C extends { readonly do: string }>
  implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #lines: ReadableStreamDefaultReader<string>;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #patienceMilliseconds: number;
  #hasEnded = false;

  constructor({ command, args, env, patienceMilliseconds }: {
    readonly command: string;
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    /** The longest time for an answer, and for an end in peace. */
    readonly patienceMilliseconds: number;
  }) {
    this.#patienceMilliseconds = patienceMilliseconds;
    this.#process = new Deno.Command(command, {
      args: [...args],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
      env: { VRAMKIT_TEST_DRIVER: ON_GPU ? "cuda" : "simulated", NO_COLOR: "1", ...env },
    }).spawn();
    this.#lines = this.#process.stdout.pipeThrough(new TextLineStream()).getReader();
    this.#input = this.#process.stdin.getWriter();
  }

  /** It was ended from here. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Sends a signal, such as "SIGSTOP". */
  signal(name: Deno.Signal): void {
    this.#process.kill(name);
  }

  async kill(): Promise<void> {
    this.#hasEnded = true;
    this.#process.kill("SIGKILL");
    await this.#close();
  }

  /** Ends the process in peace. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    await this.#close();
  }

  /** Has a command obeyed, and returns what came of it. */
  async tell<T = unknown>(command: C): Promise<T> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify(command)}\n`));
    const line = await this.#orKilled(this.#lines.read().then(({ value }) => value));
    if (line === undefined) throw new Error(`the other process has ended at ${command.do}`);
    const answer = JSON.parse(line) as Answer;
    if ("error" in answer) throw new ToldError(answer.error);
    return answer.value as T;
  }

  async #close(): Promise<void> {
    await this.#input.close().catch(() => {});
    await this.#orKilled(this.#rest());
    await this.#process.status;
  }

  async #rest(): Promise<void> {
    while (!(await this.#lines.read()).done);
  }

  /** Waits for the process, and ends it when that takes too long. */
  async #orKilled<T>(answer: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), this.#patienceMilliseconds);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }
}
