// Opens files in workers by Node's API: a worker may be terminated at any turn, and the runtime then
// closes its files, but not those of the C library, whose locks would last as long as the process. The
// main thread opens files by the C library, which is faster.

import { O } from "../../ffi/host.ts";
import { builtin } from "../words/builtin.ts";
import { openSystem } from "./system_error.ts";

/** A file that there always is. */
const NOTHING = "/dev/null";

/** Opens an existing file for writing. Follows links. */
export function openInWorker(path: string): number {
  const { openSync, constants } = builtin("node:fs");
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw isGone ? new Deno.errors.NotFound(error.message, { cause: error }) : error;
  }
}

/**
 * Gives the runtime a descriptor of the C library, in the place of a file that it opened, and returns its
 * new number; undefined when the program may not read /dev/null, or has too many files open.
 */
export function keepInWorker(descriptor: number): number | undefined {
  if (Deno.permissions.querySync({ name: "read", path: NOTHING }).state !== "granted") return;
  const { openSync, constants } = builtin("node:fs");
  let place: number;
  try {
    place = openSync(NOTHING, constants.O_RDONLY);
  } catch {
    return undefined;
  }
  const { dup3, close } = openSystem();
  if (dup3(descriptor, place, O.CLOEXEC) < 0) {
    closeInWorker(place);
    return undefined;
  }
  close(descriptor);
  return place;
}

/** Closes a descriptor that the runtime has, by the number from {@link openInWorker} or {@link keepInWorker}. */
export function closeInWorker(descriptor: number): void {
  builtin("node:fs").closeSync(descriptor);
}
