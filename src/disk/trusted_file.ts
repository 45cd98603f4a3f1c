// Files that only this user, or the system's administrator, can have written: checked as ssh checks those
// that it obeys, by owner, mode and kind, with all folders above.

import { factsAt, type FileFacts } from "./file_facts.ts";
import { folderOf, realPathOf } from "./file_path.ts";
import { openSystem } from "./system_error.ts";

/** The administrator's number. */
const ROOT = 0;

/** Write permission for the group, and for everybody. */
const OTHERS_WRITE = 0o022;

/** In a folder with this bit, users cannot rename or remove the files of others. */
const STICKY = 0o1000;

/**
 * Returns why a folder, or one above it, is not this user's alone; undefined when it is, and where
 * nothing is there. The program may read the folder.
 *
 * @throws Error where the system cannot be asked, as without `--allow-ffi`.
 */
export function whyFolderIsOpen(path: string): string | undefined {
  if (Deno.build.os === "windows") return undefined; // its files have no such owners
  const own = realPathIfThere(path);
  const facts = own === undefined ? undefined : factsAt(own);
  if (own === undefined || facts === undefined) return undefined;
  const reason = whyOpen(facts);
  if (reason !== undefined) return `it ${reason}`;
  let inner = own;
  for (let folder = folderOf(inner); folder !== inner; folder = folderOf(folder)) {
    const above = factsAt(folder);
    const isSticky = ((above?.mode ?? 0) & STICKY) !== 0;
    const why = above && whyOpen(isSticky ? { ...above, mode: STICKY } : above);
    if (why !== undefined) return `${folder} above it ${why}`;
    inner = folder;
  }
  return undefined;
}

/** Returns why a file in such a folder is not this user's alone, or no file; undefined when it is. */
export function whyFileIsOpen(path: string): string | undefined {
  if (Deno.build.os === "windows") return undefined;
  const facts = factsAt(path);
  if (facts === undefined) return undefined;
  if (facts.kind !== "file") return `it is a ${facts.kind}, expected a regular file`;
  const reason = whyOpen(facts);
  return reason === undefined ? undefined : `it ${reason}`;
}

function whyOpen({ uid, mode }: Pick<FileFacts, "uid" | "mode">): string | undefined {
  if (uid !== openSystem().geteuid() && uid !== ROOT) return `belongs to user ${uid}`;
  if ((mode & OTHERS_WRITE) === 0) return undefined;
  return `may be written by others (mode ${mode.toString(8)})`;
}

function realPathIfThere(path: string): string | undefined {
  try {
    return realPathOf(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
