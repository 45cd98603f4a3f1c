// Limits of memory: a number of bytes, a size, or a share of the device.

import { type ByteSize, describeValue, parseBytes } from "../words/format.ts";

/**
 * Reads a limit: bytes, `"2 GiB"`, or a share such as `"40%"` of `totalBytes`.
 *
 * @throws RangeError when it is neither, or a share above 100 %.
 * @throws TypeError when it is neither a number nor a text.
 */
export function parseLimit(limit: ByteSize, totalBytes: number): number {
  if (typeof limit !== "number" && typeof limit !== "string") {
    throw new TypeError(
      `Cannot read limit ${describeValue(limit)}: expected bytes, a size such as "2 GiB" or a ` +
        `share such as "40%"`,
    );
  }
  if (typeof limit === "number" || !limit.trim().endsWith("%")) return parseBytes(limit, "limit");
  const match = /^\s*(\d+(?:\.\d+)?)\s*%\s*$/.exec(limit);
  const share = match === null ? NaN : Number(match[1]) / 100;
  if (!(share <= 1)) {
    throw new RangeError(
      `Cannot read limit ${describeValue(limit)}: expected "0%" to "100%" of the memory`,
    );
  }
  return Math.floor(share * totalBytes);
}
