// The test's hand on the process of a rank.

import { flagsOfBuiltKit } from "../built_kit.ts";
import { ObedientProcess } from "../obedient_process.ts";
import type { RankCommand } from "./rank_words.ts";

/** The longest time for an answer. */
const PATIENCE_MILLISECONDS = 60_000;

const PROGRAM = new URL("./rank_program.ts", import.meta.url).pathname;

const ARGS = ["run", "-A", "--no-check", ...await flagsOfBuiltKit(), PROGRAM];

/** The process of a rank; ends with `await using`. */
export class RankProcess extends ObedientProcess<RankCommand> {
  constructor(env: Readonly<Record<string, string>> = {}) {
    super({
      command: Deno.execPath(),
      args: ARGS,
      env: { NCCL_DEBUG_FILE: "/dev/null", ...env },
      patienceMilliseconds: PATIENCE_MILLISECONDS,
    });
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
