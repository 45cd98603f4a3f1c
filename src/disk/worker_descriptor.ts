// Opens files in workers by Node's API: a worker may be terminated at any turn, and the runtime then
// closes its files, but not those of the C library, whose locks would last as long as the process. The
// main thread opens files by the C library, which is faster.

import { builtin } from "../words/builtin.ts";

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

/** Closes a file that {@link openInWorker} opened. */
export function closeInWorker(descriptor: number): void {
  builtin("node:fs").closeSync(descriptor);
}
