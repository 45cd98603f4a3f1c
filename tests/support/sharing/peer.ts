// The test's hand on another process that has the same device.

import { ObedientProcess } from "../obedient_process.ts";
import type { PeerAnswer, PeerCommand } from "./peer_words.ts";

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

/** Another process; ends with `await using`. */
export class Peer extends ObedientProcess {
  private constructor(command: string, args: readonly string[]) {
    super({ command, args, patienceMilliseconds: PATIENCE_MILLISECONDS });
  }

  /** Starts this kit in another process. */
  static deno(): Peer {
    return new Peer(Deno.execPath(), ["run", "-A", "--no-check", PROGRAM]);
  }

  /** Starts another program that knows the same words. */
  static program(command: string, args: readonly string[]): Peer {
    return new Peer(command, args);
  }

  /** Has a command obeyed, and returns what came of it. */
  async tell<T = unknown>(command: PeerCommand): Promise<T> {
    const answer = await this.ask(command) as PeerAnswer;
    if ("error" in answer) throw new PeerError(answer.error);
    return answer.value as T;
  }
}
