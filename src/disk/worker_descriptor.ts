// A worker may be terminated at any turn, and what the C library opened for it stays open, with its
// locks, until the process ends. What the runtime opens for Node's API is a descriptor too, and ends
// with the worker; it is slower to get, so the main thread does without.

import { builtin } from "../words/builtin.ts";

/** Opens a file that is there for writing. Links are followed. */
export function openInWorker(path: string): number {
  const { openSync, constants } = builtin("node:fs");
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw isGone ? new Deno.errors.NotFound(error.message, { cause: error }) : error;
  }
}

/** Closes it. */
export function closeInWorker(descriptor: number): void {
  builtin("node:fs").closeSync(descriptor);
}
