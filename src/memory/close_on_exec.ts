// Descriptors that a driver makes. A program that is started later must not inherit them: it would keep
// their memory.

import { F, FD_CLOEXEC, openHost } from "../../ffi/host.ts";

/** Makes a descriptor that was just taken end with exec, and returns it. */
export function closeOnExec(descriptor: number): number {
  openHost().fcntl(descriptor, F.SETFD, FD_CLOEXEC);
  return descriptor;
}
