// Descriptors in workers: a worker may be terminated at any turn, and the runtime then closes what it has
// opened by Node's API, but nothing of the C library's, whose locks and files would last as long as the
// process. The main thread opens files by the C library alone, which is faster.

import { O } from "../../ffi/host.ts";
import { CAN_BE_TERMINATED } from "../order/waiting.ts";
import { builtin } from "../words/builtin.ts";
import { openSystem, systemError } from "./system_error.ts";

/** A file that there always is. */
const NOTHING = "/dev/null";

/** An open descriptor, and the call that closes it. */
interface OpenDescriptor {
  readonly descriptor: number;
  readonly close: (descriptor: number) => unknown;
}

/**
 * Opens an existing file by Node's API. Follows links.
 *
 * @throws Error in the words of {@link systemError}.
 */
export function openInWorker(path: string, flags: number): OpenDescriptor {
  const { openSync, closeSync } = builtin("node:fs");
  try {
    return { descriptor: openSync(path, flags), close: closeSync };
  } catch (error) {
    const { errno }: { readonly errno?: unknown } = Object(error);
    throw typeof errno === "number" ? systemError(`open ${path}`, -errno) : error;
  }
}

/**
 * In a worker, gives the runtime a descriptor of the C library, in the place of a file that it has
 * opened. Leaves it as it is where the program may not read /dev/null, or has too many files open.
 */
export function endWithWorker(descriptor: number): OpenDescriptor {
  const { dup3, close } = openSystem();
  const place = CAN_BE_TERMINATED ? openNothing() : undefined;
  if (place === undefined) return { descriptor, close };
  if (dup3(descriptor, place.descriptor, O.CLOEXEC) < 0) {
    place.close(place.descriptor);
    return { descriptor, close };
  }
  close(descriptor);
  return place;
}

function openNothing(): OpenDescriptor | undefined {
  if (Deno.permissions.querySync({ name: "read", path: NOTHING }).state !== "granted") return;
  try {
    return openInWorker(NOTHING, O.RDONLY);
  } catch {
    return undefined;
  }
}
