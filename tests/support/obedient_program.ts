// The program of a process that obeys a test: one command in JSON a line, and one answer.

import type { Answer } from "./obedient_process.ts";
import { TextLineStream } from "./text_lines.ts";

/** Does what standard input tells, until it ends. */
export async function obeyCommands<C>(obey: (command: C) => Promise<unknown>): Promise<void> {
  for await (const line of Deno.stdin.readable.pipeThrough(new TextLineStream())) {
    const answer = JSON.stringify(await answerOf(() => obey(JSON.parse(line))));
    await Deno.stdout.write(new TextEncoder().encode(`${answer}\n`));
  }
}

async function answerOf(work: () => Promise<unknown>): Promise<Answer> {
  try {
    return { value: await work() ?? null };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { name, message, reason, rank } = error as Error & { reason?: string; rank?: number };
    return { error: { name, message, reason, rank } };
  }
}
