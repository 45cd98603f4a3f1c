// A text file that a command line names.

import { messageOf } from "../words/format.ts";
import { reasonOf } from "./system_error.ts";

/**
 * Reads a text from a file or a pipe.
 *
 * @throws TypeError when that is not possible; the message is the reason alone.
 */
export async function readText(path: string): Promise<string> {
  try {
    const { isCharDevice } = await Deno.stat(path); // some of them never end
    if (isCharDevice !== true) return await Deno.readTextFile(path);
  } catch (error) {
    throw new TypeError(reasonOf(error) ?? messageOf(error));
  }
  throw new TypeError("it is a device, expected a file");
}
