// Files that are read whole.

import { reasonOf } from "./system_error.ts";

/**
 * Reads a file.
 *
 * @throws TypeError when it is a pipe, which may wait for ever, or a device, which may never end; the
 *   message is the reason alone.
 */
export async function readBytes(path: string): Promise<Uint8Array> {
  const facts = await Deno.stat(path);
  refuseDevice(facts);
  if (facts.isFifo === true) throw new TypeError("it is a pipe, expected a file");
  return await Deno.readFile(path);
}

/**
 * Reads a text from a file or a pipe.
 *
 * @throws TypeError when that is not possible; the message is the reason alone.
 */
export async function readText(path: string): Promise<string> {
  try {
    refuseDevice(await Deno.stat(path));
    return await Deno.readTextFile(path);
  } catch (error) {
    throw new TypeError(reasonOf(error));
  }
}

function refuseDevice({ isBlockDevice, isCharDevice }: Deno.FileInfo): void {
  if (isBlockDevice === true || isCharDevice === true) {
    throw new TypeError("it is a device, expected a file");
  }
}
