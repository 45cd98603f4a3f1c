// The test's hand on the process of a rank.

import { ON_GPU } from "../driver.ts";
import { TextLineStream } from "../sharing/text_lines.ts";
import type { RankAnswer, RankCommand } from "./rank_words.ts";

/** An error that the process has reported. */
export class RankError extends Error {
  override readonly name = "RankError";
  /** The error's class there. */
  readonly kind: string;
  /** Its reason, where it has one. */
  readonly reason: string | undefined;
  /** The rank that it names, where it does. */
  readonly rank: number | undefined;

  /** Repeats an error. */
  constructor({ name, message, reason, rank }: Extract<RankAnswer, { error: unknown }>["error"]) {
    super(message);
    this.kind = name;
    this.reason = reason;
    this.rank = rank;
  }
}

/** The longest time for an answer. */
const PATIENCE_MILLISECONDS = 60_000;

const PROGRAM = new URL("./rank_program.ts", import.meta.url).pathname;

/** A process that obeys; ends with `await using`. */
export class RankProcess implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #lines: ReadableStreamDefaultReader<string>;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  #hasEnded = false;

  /** Starts a process. */
  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#process = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", PROGRAM],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
      env: {
        VRAMKIT_TEST_DRIVER: ON_GPU ? "cuda" : "simulated",
        NO_COLOR: "1",
        NCCL_DEBUG_FILE: "/dev/null",
        ...env,
      },
    }).spawn();
    this.#lines = this.#process.stdout.pipeThrough(new TextLineStream()).getReader();
    this.#input = this.#process.stdin.getWriter();
  }

  /** The process's number. */
  get pid(): number {
    return this.#process.pid;
  }

  /** Has a command obeyed, and returns what came of it. */
  async tell<T = unknown>(command: RankCommand): Promise<T> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify(command)}\n`));
    const line = await this.#orKilled(this.#lines.read().then(({ value }) => value));
    if (line === undefined) throw new Error(`the process has ended at ${command.do}`);
    const answer: RankAnswer = JSON.parse(line);
    if ("error" in answer) throw new RankError(answer.error);
    return answer.value as T;
  }

  /** Sends a signal, such as "SIGSTOP". */
  signal(name: Deno.Signal): void {
    this.#process.kill(name);
  }

  /** Ends the process at once. */
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
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), PATIENCE_MILLISECONDS);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }
}

let nextPort = 21_000 + Deno.pid % 10_000;

/** An address of this machine that nobody listens at. */
export function freeAddress(): string {
  for (;;) {
    const port = nextPort++;
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return `tcp://127.0.0.1:${port}`;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
