// Starts a keeper: a detached Deno that reads its program from standard input, so that it needs no
// network, no cache and no file, and outlives the program that needed it first.

import { hostLibrary } from "../../ffi/host.ts";
import { messageOf } from "../words/format.ts";
import { keeperProgram } from "./keeper_program.ts";
import { KEEPER_FACTS } from "./keeper_system.ts";
import { PersistError } from "./persist_error.ts";

/** The command that starts a keeper by hand. */
const BY_HAND = "run `deno run -A URL/src/cli.ts persisted start`";

const FLAGS =
  "run --quiet --no-config --no-lock --no-prompt --no-remote --no-npm --no-code-cache " +
  "--ext=js --allow-ffi -";

/**
 * Starts a keeper in a folder, where there may be one by the time it runs: then it ends at once.
 *
 * @param changes Other facts than this kit's, for tests.
 *
 * @throws PersistError where this program cannot start another, with the way to do it by hand.
 */
export async function startKeeper(
  folder: string,
  changes: Partial<typeof KEEPER_FACTS> = {},
): Promise<void> {
  if (Deno.build.standalone) {
    throw cannotStart("a compiled program contains no Deno that could run it");
  }
  const command = Deno.execPath();
  if (Deno.permissions.requestSync({ name: "run", command }).state !== "granted") {
    throw cannotStart("that needs --allow-run");
  }
  const program = keeperProgram({ ...KEEPER_FACTS, ...changes, library: hostLibrary(), folder });
  try {
    const child = new Deno.Command(command, {
      args: FLAGS.split(" "),
      stdin: "piped",
      stdout: "null",
      stderr: "null",
      detached: true,
      cwd: "/",
      clearEnv: true, // it keeps nothing of the program's secrets
      env: { DENO_NO_UPDATE_CHECK: "1", DENO_DIR: "/dev/null/none", PATH: "/usr/bin:/bin" },
    }).spawn();
    child.unref();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(program));
    await writer.close();
  } catch (cause) {
    throw cannotStart(messageOf(cause), { cause });
  }
}

function cannotStart(reason: string, options?: ErrorOptions): PersistError {
  const words = `Cannot start the keeper of persisted memory: ${reason}; ${BY_HAND}`;
  return new PersistError("no-keeper", words, options);
}
