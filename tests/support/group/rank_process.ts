// The test's hand on the process of a rank.

import { ObedientProcess } from "../obedient_process.ts";
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

/** The process of a rank; ends with `await using`. */
export class RankProcess extends ObedientProcess {
  /** Starts a process. */
  constructor(env: Readonly<Record<string, string>> = {}) {
    super({
      command: Deno.execPath(),
      args: ["run", "-A", "--no-check", PROGRAM],
      env: { NCCL_DEBUG_FILE: "/dev/null", ...env },
      patienceMilliseconds: PATIENCE_MILLISECONDS,
    });
  }

  /** Has a command obeyed, and returns what came of it. */
  async tell<T = unknown>(command: RankCommand): Promise<T> {
    const answer = await this.ask(command) as RankAnswer;
    if ("error" in answer) throw new RankError(answer.error);
    return answer.value as T;
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
