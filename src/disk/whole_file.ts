// Files that are read whole.

import { reasonOf } from "./system_error.ts";

/**
 * Checks that a path is not a device: some devices never end.
 *
 * @throws TypeError when it is one; the message is the reason alone.
 */
export async function refuseDevice(path: string): Promise<void> {
  const { isCharDevice } = await Deno.stat(path);
  if (isCharDevice === true) throw new TypeError("it is a device, expected a file");
}

/**
 * Reads a text from a file or a pipe.
 *
 * @throws TypeError when that is not possible; the message is the reason alone.
 */
export async function readText(path: string): Promise<string> {
  try {
    await refuseDevice(path);
    return await Deno.readTextFile(path);
  } catch (error) {
    throw new TypeError(reasonOf(error));
  }
}
