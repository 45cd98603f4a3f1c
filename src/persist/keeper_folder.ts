// The folder in which the keeper of a user listens: that of the session, or a temporary one. Nobody else
// may write there, or could take a keeper's place.

import { cString } from "../../ffi/c_strings.ts";
import { readVariable } from "../../ffi/library.ts";
import { factsAt, type FileFacts } from "../disk/file_facts.ts";
import { openSystem } from "../disk/system_error.ts";
import { MAX_SOCKET_PATH_BYTES } from "../sharing/local_socket.ts";
import { PersistError } from "./persist_error.ts";

/** Permissions of a folder that only its owner may use. */
const OWN = 0o700;
const PERMISSIONS = 0o777;

/** Where systemd has the folders of sessions: programs that may not read the variable look there. */
const SESSIONS = "/run/user";

/** The folder that every user may write, whatever the program's environment says. */
const TEMPORARY = "/tmp";

/** Returns the path of the socket in a keeper's folder. */
export function socketIn(folder: string): string {
  return `${folder}/keeper.sock`;
}

/** Returns the path of the file that the keeper has locked, with a line about what it holds. */
export function lockIn(folder: string): string {
  return `${folder}/keeper.lock`;
}

/** Returns the path of the folder of this user's keeper, which may not be there yet. */
export function folderPath(): string {
  const uid = openSystem().geteuid();
  const session = readVariable("XDG_RUNTIME_DIR") ?? `${SESSIONS}/${uid}`;
  const isOwn = session.startsWith("/") && ownerProblem(factsAt(session), uid) === undefined;
  return isOwn ? `${session}/vramkit` : `${TEMPORARY}/vramkit-${uid}`;
}

/**
 * Returns the folder of this user's keeper, and makes it unless it is there.
 *
 * @throws PersistError when it belongs to another user, or others may use it.
 */
export function keeperFolder(): string {
  const folder = folderPath();
  let facts = factsAt(folder);
  if (facts === undefined) {
    openSystem().mkdir(cString(folder), OWN); // fails where another program has just made it
    facts = factsAt(folder);
  }
  const problem = ownerProblem(facts, openSystem().geteuid());
  if (problem !== undefined) throw unusable(folder, problem);
  if (new TextEncoder().encode(socketIn(folder)).byteLength > MAX_SOCKET_PATH_BYTES) {
    const words = "its path is too long for a socket; set XDG_RUNTIME_DIR to a shorter one";
    throw unusable(folder, words);
  }
  return folder;
}

function unusable(folder: string, problem: string): PersistError {
  return new PersistError("no-keeper", `Cannot use ${folder} for persisted memory: ${problem}`);
}

/** Says what forbids a folder; undefined when it is this user's alone. */
function ownerProblem(facts: FileFacts | undefined, uid: number): string | undefined {
  if (facts === undefined) return "it cannot be made";
  if (facts.kind !== "folder") return `it is a ${facts.kind}, expected a folder`;
  if (facts.uid !== uid) return `it belongs to user ${facts.uid}, this program runs as ${uid}`;
  if ((facts.mode & PERMISSIONS) === OWN) return undefined;
  return `its mode is ${(facts.mode & PERMISSIONS).toString(8)}, expected 700`;
}
