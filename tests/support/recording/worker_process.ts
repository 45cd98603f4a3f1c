// One process that plays sequences, seen from the recorder: given a task it tells what came of it,
// also when the process ends by a fault meanwhile, or does not return.

import { inTime, LateError } from "../in_time.ts";
import { TextLineStream } from "../text_lines.ts";
import { CRASHED, HUNG } from "./compare.ts";
import type { Message, Task } from "./messages.ts";
import type { Sequence } from "./notation.ts";
import type { RecordedSequence, RecordingFacts } from "./recording.ts";

/** The options of the processes. */
export interface ProcessOptions {
  readonly driver: "cuda" | "simulated";
  /** Most devices to use. */
  readonly mostDevices: number;
  /** Seconds after which a step counts as one that does not return. */
  readonly timeoutSeconds: number;
}

/** The outcome of a task. */
export interface TaskResult {
  /** The sequence and its outcomes, up to the step that ended the process. */
  readonly recorded: RecordedSequence;
  /** The trouble beside the steps; undefined when there was none. */
  readonly trouble: string | undefined;
}

/** Seconds in which a process must start: making the contexts of eight devices takes a few. */
const START_SECONDS = 120;

/** Seconds in which a process must end that was told to; one that does not is left alone. */
const END_SECONDS = 5;

/** The number of sequences before a trouble that are named with it: one of them may have caused it. */
const MAX_NAMED = 12;

/** A process that plays sequences. */
export class WorkerProcess {
  /** Whether it can play another sequence. */
  canGoOn = true;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #messages: AsyncGenerator<Message>;
  readonly #timeoutSeconds: number;
  readonly #errors: Promise<string>;
  readonly #played: string[] = [];

  /** Starts a process; a fresh one makes no context. */
  constructor(options: ProcessOptions, { isFresh }: { isFresh: boolean }) {
    const { driver, mostDevices, timeoutSeconds } = options;
    const script = new URL("./child.ts", import.meta.url).pathname;
    const start = isFresh ? "fresh" : "base";
    this.#child = new Deno.Command(Deno.execPath(), {
      // Other devices stay unseen, so that the driver counts as many as the recording says.
      env: { CUDA_VISIBLE_DEVICES: visibleDevices(mostDevices) },
      args: ["run", "-A", "--no-check", "--quiet", script, driver, start, String(mostDevices)],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#messages = messagesOf(this.#child.stdout);
    this.#errors = new Response(this.#child.stderr).text();
    this.#timeoutSeconds = timeoutSeconds;
  }

  /**
   * Waits until it has started, and tells which driver it has.
   *
   * @throws Error with what it printed when it does not start.
   */
  async facts(): Promise<RecordingFacts> {
    const message = await this.#next(START_SECONDS).catch(() => undefined);
    if (message !== undefined && "facts" in message) return message.facts;
    this.#kill();
    throw new Error(`Cannot start a process of the recorder: ${await this.#printed()}`);
  }

  /** Plays a task. Never throws: what goes wrong is a part of the result. */
  async play(task: Task): Promise<TaskResult> {
    let sequence: Sequence = "sequence" in task
      ? task.sequence
      : { id: `random ${task.seed}.${task.number}`, isFresh: false, lines: [] };
    const outcomes: string[] = [];
    let isPlayed = false;
    try {
      await this.#input.write(new TextEncoder().encode(`${JSON.stringify(task)}\n`));
      for (;;) {
        const message = await this.#next(this.#timeoutSeconds);
        if ("sequence" in message) sequence = message.sequence;
        else if ("outcome" in message) outcomes.push(message.outcome);
        else if ("isPlayed" in message) isPlayed = true;
        else if ("canGoOn" in message) {
          this.canGoOn = message.canGoOn;
          this.#played.push(sequence.id);
          return { recorded: { ...sequence, outcomes }, trouble: undefined };
        }
      }
    } catch (error) {
      return await this.#fail(error, { sequence, outcomes, isPlayed });
    }
  }

  async end(): Promise<void> {
    await inTime(END_SECONDS, this.#input.close()).catch(() => {});
    this.#kill();
    await inTime(END_SECONDS, this.#child.status).catch(() => {});
    await this.#printed();
  }

  /** Notes a process that ended, or that does not return, in the step it was at. */
  async #fail(
    error: unknown,
    { sequence, outcomes, isPlayed }: {
      sequence: Sequence;
      outcomes: string[];
      isPlayed: boolean;
    },
  ): Promise<TaskResult> {
    this.canGoOn = false;
    const end = error instanceof LateError ? HUNG : CRASHED;
    if (end === HUNG) this.#kill();
    const status = await inTime(END_SECONDS, this.#child.status).catch(() => undefined);
    const ending = status === undefined
      ? "it does not end"
      : status.signal ?? `exit code ${status.code}`;
    const printed = (await this.#printed()).trim().replaceAll("\n", " | ").slice(0, 300);
    const place = isPlayed ? "cleaning up" : `step ${outcomes.length}`;
    const before = this.#played.slice(-MAX_NAMED).join(", ");
    const trouble = `${end} in ${place} of ${sequence.id} (${ending}) ${printed}, after ${before}`;
    if (!isPlayed && outcomes.length < sequence.lines.length) outcomes.push(end);
    const lines = sequence.lines.slice(0, outcomes.length);
    return { recorded: { ...sequence, lines, outcomes }, trouble };
  }

  async #next(seconds: number): Promise<Message> {
    const { done, value } = await inTime(seconds, this.#messages.next());
    if (done === true) throw new Error("the process ended");
    return value;
  }

  /** The error output of the process; nothing while it does not end. */
  async #printed(): Promise<string> {
    return await inTime(END_SECONDS, this.#errors).catch(() => "");
  }

  #kill(): void {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
  }
}

async function* messagesOf(
  output: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Message> {
  for await (const line of output.pipeThrough(new TextLineStream())) {
    if (line.startsWith("{")) yield JSON.parse(line);
  }
}

/** Names the first devices of those that this process sees. */
function visibleDevices(count: number): string {
  const seen = Deno.env.get("CUDA_VISIBLE_DEVICES")?.split(",");
  return (seen ?? Array.from({ length: count }, (_, i) => i)).slice(0, count).join(",");
}
