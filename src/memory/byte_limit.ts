// How much memory something may hold: a number of bytes, a size, or a share of the device.

import { CUresult } from "../../ffi/constants.ts";
import { CudaError, statusName } from "../errors.ts";
import { type ByteSize, formatBytes, parseBytes } from "../format.ts";

/** What a request that passes a limit was up against, in bytes. */
export interface LimitAmounts {
  /** What was asked for. */
  readonly requestedBytes: number;
  /** What is held already. */
  readonly heldBytes: number;
  /** What may be held. */
  readonly limitBytes: number;
}

/**
 * Reads a limit: bytes, `"2 GiB"`, or a share such as `"40%"` of `totalBytes`.
 *
 * @throws RangeError when it is neither, or a share above 100 %.
 */
export function parseLimit(limit: ByteSize, totalBytes: number): number {
  if (typeof limit === "number" || !limit.trim().endsWith("%")) return parseBytes(limit, "limit");
  const match = /^\s*(\d+(?:\.\d+)?)\s*%\s*$/.exec(limit);
  const share = match === null ? NaN : Number(match[1]) / 100;
  if (!(share <= 1)) {
    throw new RangeError(`Cannot read limit "${limit}": expected "0%" to "100%" of the memory`);
  }
  return Math.floor(share * totalBytes);
}

/** Makes the error for a request that passes a limit of `call`; nothing was asked of the driver. */
export function limitError(call: string, amounts: LimitAmounts): CudaError {
  const { requestedBytes, heldBytes, limitBytes } = amounts;
  const code = CUresult.CUDA_ERROR_OUT_OF_MEMORY;
  return new CudaError(
    `Cannot allocate ${formatBytes(requestedBytes)}: ${statusName(code)} (${code}), ` +
      `${formatBytes(heldBytes)} of the ${formatBytes(limitBytes)} that ${call} allows are held`,
    { code, call },
  );
}
