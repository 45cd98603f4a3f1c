// The test's hand on another process that has the same device.

import { ON_GPU } from "../driver.ts";
import type { PeerAnswer, PeerCommand } from "./peer_words.ts";
import { TextLineStream } from "./text_lines.ts";

/** An error that the other process has reported. */
export class PeerError extends Error {
  override readonly name = "PeerError";
  /** The error's class there. */
  readonly kind: string;
  /** Its reason, where it has one. */
  readonly reason: string | undefined;

  /** Repeats an error. */
  constructor({ name, message, reason }: { name: string; message: string; reason?: unknown }) {
    super(message);
    this.kind = name;
    this.reason = reason === undefined ? undefined : String(reason);
  }
}

/** The longest time for an answer, and for an end in peace. */
const PATIENCE_MILLISECONDS = 30_000;

const PROGRAM = new URL("./peer_program.ts", import.meta.url).pathname;

/** A process that obeys; ends with `await using`. */
export class Peer implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #lines: ReadableStreamDefaultReader<string>;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  #hasEnded = false;

  private constructor(command: string, args: readonly string[]) {
    this.#process = new Deno.Command(command, {
      args: [...args],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
      env: { VRAMKIT_TEST_DRIVER: ON_GPU ? "cuda" : "simulated", NO_COLOR: "1" },
    }).spawn();
    this.#lines = this.#process.stdout.pipeThrough(new TextLineStream()).getReader();
    this.#input = this.#process.stdin.getWriter();
  }

  /** Starts this kit in another process. */
  static deno(): Peer {
    return new Peer(Deno.execPath(), ["run", "-A", "--no-check", PROGRAM]);
  }

  /** Starts another program that knows the same words. */
  static program(command: string, args: readonly string[]): Peer {
    return new Peer(command, args);
  }

  /** The process's number. */
  get pid(): number {
    return this.#process.pid;
  }

  /** Has a command obeyed, and returns what came of it. */
  async tell<T = unknown>(command: PeerCommand): Promise<T> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify(command)}\n`));
    const line = await this.#orKilled(this.#lines.read().then(({ value }) => value));
    if (line === undefined) throw new Error(`the other process has ended at ${command.do}`);
    const answer: PeerAnswer = JSON.parse(line);
    if ("error" in answer) throw new PeerError(answer.error);
    return answer.value as T;
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
