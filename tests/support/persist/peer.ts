// The test's hand on another process that persists memory.

import { flagsOfBuiltKit } from "../built_kit.ts";
import { ObedientProcess } from "../obedient_process.ts";

/** What the process is told. */
export type PersistCommand =
  | {
    readonly do: "persist";
    readonly name: string;
    readonly byteLength?: number;
    readonly value?: number;
    readonly key?: string;
    readonly replace?: boolean;
    /** What the function does besides: it fails, never ends, or says that it runs. */
    readonly how?: "fails" | "hangs" | "writes on" | undefined;
    readonly device?: number;
    readonly model?: string;
  }
  | {
    readonly do: "checksum" | "dispose" | "hand out" | "free bytes" | "list" | "stats";
    readonly name?: string;
  }
  | { readonly do: "fill"; readonly value: number; readonly waits: boolean }
  /** It dies with the write under way: killed from outside, it might have seen the end of it. */
  | { readonly do: "fill and die"; readonly value: number }
  | { readonly do: "forget"; readonly name: string }
  | { readonly do: "sleep"; readonly to: "host" | "file"; readonly path?: string };

/** What came of persisting. */
export interface PersistAnswer {
  readonly wasMade: boolean;
  readonly state: string;
  readonly openedBy: readonly number[];
  readonly milliseconds: number;
  readonly bytes: readonly number[];
}

const PROGRAM = new URL("./peer_program.ts", import.meta.url).pathname;

const ARGS = ["run", "-A", "--no-check", ...await flagsOfBuiltKit(), PROGRAM];

/** Another process that has the same device; ends with `await using`. */
export class PersistPeer extends ObedientProcess<PersistCommand> {
  constructor(env: Readonly<Record<string, string>>, { command, args }: {
    readonly command?: string;
    readonly args?: readonly string[];
  } = {}) {
    super({
      command: command ?? Deno.execPath(),
      args: args ?? PersistPeer.args,
      env,
      patienceMilliseconds: 60_000,
    });
  }

  /** The arguments of the program. */
  static get args(): readonly string[] {
    return ARGS;
  }
}
