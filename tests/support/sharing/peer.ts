// The test's hand on another process that has the same device.

import { flagsOfBuiltKit } from "../built_kit.ts";
import { ObedientProcess } from "../obedient_process.ts";
import type { PeerCommand } from "./peer_words.ts";

/** The longest time for an answer, and for an end in peace. */
const PATIENCE_MILLISECONDS = 30_000;

const PROGRAM = new URL("./peer_program.ts", import.meta.url).pathname;

const ARGS = ["run", "-A", "--no-check", ...await flagsOfBuiltKit(), PROGRAM];

/** Another process; ends with `await using`. */
export class Peer extends ObedientProcess<PeerCommand> {
  private constructor(command: string, args: readonly string[]) {
    super({ command, args, patienceMilliseconds: PATIENCE_MILLISECONDS });
  }

  /** Starts this kit in another process. */
  static deno(): Peer {
    return new Peer(Deno.execPath(), ARGS);
  }

  /** Starts another program that knows the same words. */
  static program(command: string, args: readonly string[]): Peer {
    return new Peer(command, args);
  }
}
