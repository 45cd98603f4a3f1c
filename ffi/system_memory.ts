// The memory that the system could give to a program now. An integrated GPU has no other, and its
// driver counts pages of the page cache as used, which the system gives up at once.

import { cString } from "./c_strings.ts";
import type { DriverApi } from "./cuda.ts";
import { findHost, O } from "./host.ts";
import { ownParts } from "./own_parts.ts";

/** Room for the lines that come first: MemAvailable is the third. */
const TEXT_BYTES = 4096;

/** Returns the bytes that programs can get without swapping; undefined where the system does not say. */
export function availableBytes(driver: DriverApi, ordinal: number): number | undefined {
  const own = ownParts(driver).availableBytes;
  if (own !== undefined) return own(ordinal);
  const [, kibibytes] = /^MemAvailable:\s+(\d+) kB$/m.exec(readStart("/proc/meminfo")) ?? [];
  return kibibytes === undefined ? undefined : 1024 * Number(kibibytes);
}

/** Reads by the C library, since Deno opens files below /proc only for programs that may do everything. */
function readStart(path: string): string {
  const host = findHost();
  if (host === undefined) return "";
  const descriptor = host.open(cString(path), O.RDONLY, 0);
  if (descriptor < 0) return "";
  const text = new Uint8Array(TEXT_BYTES);
  const count = host.pread(descriptor, host.addressOf(text, text, 0n), BigInt(text.length), 0n);
  host.close(descriptor);
  return new TextDecoder().decode(text.subarray(0, Math.max(0, Number(count))));
}
