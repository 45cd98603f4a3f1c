// Loads packages when the first plot is shown, with a time limit: a notebook must not wait for ever
// for a network that does not answer.

import { messageOf } from "../words/format.ts";
import { within } from "../words/timer.ts";

/** Time in which a package of 25 MB arrives on a slow line. */
const LOADING_SECONDS = 60;

/**
 * Waits for the import of a package, but not for ever.
 *
 * @throws Error that names the package when it cannot be loaded, or is not there in time.
 * @throws NotCapable when the package itself needs a permission.
 */
export async function loadPackage<T>(
  name: string,
  loading: Promise<T>,
  seconds: number = LOADING_SECONDS,
): Promise<T> {
  const late = within(1000 * seconds, loading).then(() => {
    throw new Error(`no answer within ${seconds} s`);
  });
  try {
    return await Promise.race([loading, late]);
  } catch (cause) {
    if (cause instanceof Deno.errors.NotCapable) throw cause;
    const [reason] = messageOf(cause).split("\n");
    throw new Error(`Cannot load ${name} from npm: ${reason}`, { cause });
  }
}
