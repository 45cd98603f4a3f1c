// A keeper of a test's own: in a folder that ends with the test, and so does the keeper.

import { assert } from "@std/assert";
import { KeeperConnection } from "../../../src/persist/keeper_connection.ts";
import { until } from "../in_time.ts";
import { TemporaryFolder } from "../temporary_folder.ts";
import { PersistPeer } from "./peer.ts";

const VARIABLE = "XDG_RUNTIME_DIR";

/** Sets the folder of the keeper, for this process and those that the test starts. */
export class KeeperScene implements AsyncDisposable {
  readonly #folder = new TemporaryFolder();
  readonly #former = Deno.env.get(VARIABLE);

  constructor() {
    Deno.env.set(VARIABLE, this.#folder.path);
  }

  get folder(): string {
    return `${this.#folder.path}/vramkit`;
  }

  /** The variables by which another process finds the same keeper. */
  get env(): Record<string, string> {
    return { [VARIABLE]: this.#folder.path };
  }

  pathOf(name: string): string {
    return this.#folder.pathOf(name);
  }

  /** Starts a process that obeys. */
  peer(env: Readonly<Record<string, string>> = {}): PersistPeer {
    return new PersistPeer({ [VARIABLE]: this.#folder.path, ...env });
  }

  /** The keeper's process. */
  async pid(): Promise<number> {
    using connection = await KeeperConnection.find();
    assert(connection !== undefined, "there is no keeper");
    return connection.pid;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (;;) { // another may wait for the place of the first
      using connection = await KeeperConnection.findAny();
      if (connection === undefined) break;
      await connection.ask({ op: "stop" }).catch(() => {});
      await untilOver(connection.pid);
    }
    await killKeepers(); // one that was asked for in vain may begin only later
    if (this.#former === undefined) Deno.env.delete(VARIABLE);
    else Deno.env.set(VARIABLE, this.#former);
    this.#folder[Symbol.dispose]();
  }
}

/** Kills the keepers that this process has started, and waits until the runtime has heard of their end. */
async function killKeepers(): Promise<void> {
  const children = Array.from(Deno.readDirSync("/proc"), ({ name }) => Number(name)).filter(
    (pid) => {
      const [, state, parent] = /\) (\S) (\d+)/.exec(textOf(pid, "stat")) ?? [];
      // A keeper reads its program from standard input; one that is over has no command any more.
      const isKeeper = state === "Z" || textOf(pid, "cmdline").endsWith("\0--allow-ffi\0-\0");
      return isKeeper && parent === `${Deno.pid}`;
    },
  );
  for (const pid of children) {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch {
      // It has ended just now.
    }
    await until(() => textOf(pid, "stat") === "", `process ${pid} is gone`);
  }
}

/** Reads a file about a process; empty when that is gone. */
function textOf(pid: number, file: string): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/${file}`);
  } catch {
    return "";
  }
}

/** Waits until a process is over. */
export async function untilOver(pid: number): Promise<void> {
  await until(() => !isThere(pid), `process ${pid} ends`);
}

/** Returns whether there is a process of a number; one that has ended and was not asked for counts as over. */
export function isThere(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

/** Lists what the descriptors of a process stand for. */
export function openFilesOf(
  pid: number,
): { readonly target: string; readonly endsWithExec: boolean }[] {
  const found: { target: string; endsWithExec: boolean }[] = [];
  for (const { name } of Deno.readDirSync(`/proc/${pid}/fd`)) {
    try {
      const target = Deno.readLinkSync(`/proc/${pid}/fd/${name}`);
      const [, flags = "0"] = /^flags:\s+(\d+)/m
        .exec(Deno.readTextFileSync(`/proc/${pid}/fdinfo/${name}`)) ?? [];
      found.push({ target, endsWithExec: (parseInt(flags, 8) & 0o2000000) !== 0 });
    } catch {
      // closed meanwhile
    }
  }
  return found;
}

/** Counts the descriptors of memory that a process holds, simulated or on a GPU. */
export function heldCount(pid: number): number {
  return openFilesOf(pid).filter(({ target }) => isMemory(target)).length;
}

/** Returns whether a descriptor stands for memory of a device. */
export function isMemory(target: string): boolean {
  return /^\/memfd:vramkit-simulated |nvidia|dmabuf/.test(target);
}
