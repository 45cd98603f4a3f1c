// Several processes that play sequences at the same time; one that ends is replaced by another.

import { CRASHED, HUNG } from "./compare.ts";
import type { Task } from "./messages.ts";
import type { RecordedSequence, RecordingFacts } from "./recording.ts";
import { type ProcessOptions, type TaskResult, WorkerProcess } from "./worker_process.ts";

/** The record of a process that does not start. */
const NOTHING: RecordedSequence = { id: "nothing", isFresh: false, lines: [], outcomes: [] };

/** Processes that share a list of tasks. */
export class ProcessPool implements AsyncDisposable {
  readonly #options: ProcessOptions;
  readonly #size: number;
  readonly #idle: WorkerProcess[] = [];

  /** Plans for as many processes as `size`. */
  constructor(options: ProcessOptions, size: number) {
    this.#options = options;
    this.#size = size;
  }

  /** Starts the first process and tells which driver it has. */
  async facts(): Promise<RecordingFacts> {
    const first = new WorkerProcess(this.#options, { isFresh: false });
    const facts = await first.facts();
    this.#idle.push(first);
    return facts;
  }

  /** Plays all tasks for which there is time, and returns what came of them, in their order. */
  async playAll(
    tasks: readonly Task[],
    options: { readonly limitSeconds?: number; onResult?(result: TaskResult): void } = {},
  ): Promise<TaskResult[]> {
    const { limitSeconds = Infinity } = options;
    const end = performance.now() + limitSeconds * 1000;
    const results: TaskResult[] = [];
    let next = 0;
    const work = async () => {
      for (let index = next++; index < tasks.length; index = next++) {
        const task = tasks[index];
        if (task === undefined || performance.now() > end) continue;
        const result = await this.#play(task);
        results[index] = result;
        options.onResult?.(result);
      }
    };
    await Promise.all(Array.from({ length: Math.min(this.#size, tasks.length) }, work));
    return results.filter((result) => result !== undefined);
  }

  /**
   * Plays a task. What an earlier sequence left in the driver can end a process, too: what ends one is
   * played again in another, with nothing before it, and that counts.
   */
  async #play(task: Task): Promise<TaskResult> {
    if ("sequence" in task && task.sequence.isFresh) {
      return await this.#playOn(new WorkerProcess(this.#options, { isFresh: true }), task);
    }
    const first = await this.#playOn(this.#idle.pop() ?? await this.#start(), task);
    if (!hasEnded(first)) return first;
    const { recorded } = await this.#playOn(await this.#start(), task);
    if (hasEnded({ recorded })) return { recorded, trouble: first.trouble };
    return { recorded, trouble: `${first.trouble}; not when it was played alone` };
  }

  async #playOn(worker: WorkerProcess | Error, task: Task): Promise<TaskResult> {
    // One process that does not start must not lose what the others have recorded.
    if (worker instanceof Error) return { recorded: NOTHING, trouble: worker.message };
    const result = await worker.play(task);
    if (worker.canGoOn) this.#idle.push(worker);
    else await worker.end();
    return result;
  }

  async #start(): Promise<WorkerProcess | Error> {
    const worker = new WorkerProcess(this.#options, { isFresh: false });
    try {
      await worker.facts();
      return worker;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.#idle.splice(0)) await worker.end();
  }
}

/** Tells whether a step of a sequence ended its process, or did not return. */
function hasEnded({ recorded: { outcomes } }: Pick<TaskResult, "recorded">): boolean {
  const last = outcomes.at(-1);
  return last === CRASHED || last === HUNG;
}
