// Starts saving_program.ts in a process of its own, and tells when it saves.

import { flagsOfBuiltKit } from "../built_kit.ts";
import { PROJECT_ROOT } from "../project_files.ts";

/** The models a program saves, and their number. */
export interface SaverOptions {
  readonly path: string;
  /** Bytes of a model. */
  readonly byteLength: number;
  /** The value of the first model; 1 by default. */
  readonly first?: number;
  /** The difference between the values of one model and the next; 1 by default. */
  readonly step?: number;
  /** The number of models; without an end when left out. */
  readonly rounds?: number;
  /** Whether to write into the file itself. */
  readonly inPlace?: boolean;
}

const PROGRAM = new URL("tests/support/saving/saving_program.ts", PROJECT_ROOT).pathname;

const ARGS = ["run", "-A", "--quiet", ...await flagsOfBuiltKit(), PROGRAM];

/** A process that saves. */
export class ChildSaver {
  readonly #process: Deno.ChildProcess;
  readonly #output: ReadableStreamDefaultReader<Uint8Array>;

  constructor({ path, byteLength, first = 1, step = 1, rounds = 0, inPlace }: SaverOptions) {
    const numbers = [byteLength, first, step, rounds].map(String);
    this.#process = new Deno.Command(Deno.execPath(), {
      args: [...ARGS, path, ...numbers, inPlace === true ? "inPlace" : ""],
      env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#output = this.#process.stdout.getReader();
  }

  /** Resolves when it begins to save. */
  async saving(): Promise<void> {
    const { done } = await this.#output.read();
    if (done) throw new Error("Cannot kill the program that saves: it ended by itself");
  }

  /** Ends it, and resolves when it is gone. */
  async kill(signal: Deno.Signal): Promise<void> {
    this.#process.kill(signal);
    await this.ended();
  }

  /** Resolves with its exit code when it has ended. */
  async ended(): Promise<number> {
    while (!(await this.#output.read()).done) { /* until it says no more */ }
    this.#output.releaseLock();
    return (await this.#process.status).code;
  }
}
