// Limits of memory: a number of bytes, a size, or a share of the device.

import { CUresult } from "../../ffi/constants.ts";
import { CudaError, statusName } from "../errors.ts";
import { type ByteSize, describeValue, formatBytes, parseBytes } from "../format.ts";

/** The amounts, in bytes, of a request that passes a limit. */
export interface LimitAmounts {
  /** The size of the request. */
  readonly requestedBytes: number;
  /** The bytes that are held already. */
  readonly heldBytes: number;
  /** The bytes that may be held. */
  readonly limitBytes: number;
}

/**
 * Reads a limit: bytes, `"2 GiB"`, or a share such as `"40%"` of `totalBytes`.
 *
 * @throws RangeError when it is neither, or a share above 100 %.
 * @throws TypeError when it is neither a number nor a text.
 */
export function parseLimit(limit: ByteSize, totalBytes: number): number {
  if (typeof limit !== "number" && typeof limit !== "string") {
    throw new TypeError(
      `Cannot read limit ${
        describeValue(limit)
      }: expected bytes, a size such as "2 GiB" or a share such as "40%"`,
    );
  }
  if (typeof limit === "number" || !limit.trim().endsWith("%")) return parseBytes(limit, "limit");
  const match = /^\s*(\d+(?:\.\d+)?)\s*%\s*$/.exec(limit);
  const share = match === null ? NaN : Number(match[1]) / 100;
  if (!(share <= 1)) {
    throw new RangeError(`Cannot read limit "${limit}": expected "0%" to "100%" of the memory`);
  }
  return Math.floor(share * totalBytes);
}

/** The contents of a {@link MemoryLimitError}. */
export interface LimitRefusal extends LimitAmounts {
  /** The hint on raising the limit; about the resource's own limit by default. */
  readonly remedy?: string;
}

/**
 * A resource with a limit of its own refused a request. It counts as out of memory: a buffer that
 * cannot be made because of it throws an OutOfMemoryError with this as its cause.
 */
export class MemoryLimitError extends CudaError implements LimitAmounts {
  readonly requestedBytes: number;
  readonly heldBytes: number;
  readonly limitBytes: number;
  /** The hint on raising the limit. */
  readonly remedy: string;

  /** Describes a refusal by the resource whose class is `call`. */
  constructor(call: string, refusal: LimitRefusal) {
    const { requestedBytes, heldBytes, limitBytes } = refusal;
    const code = CUresult.CUDA_ERROR_OUT_OF_MEMORY;
    super(
      `Cannot allocate ${formatBytes(requestedBytes)}: ${statusName(code)} (${code}), ` +
        `${formatBytes(heldBytes)} of the ${formatBytes(limitBytes)} that ${call} allows are held`,
      { code, call },
    );
    this.requestedBytes = requestedBytes;
    this.heldBytes = heldBytes;
    this.limitBytes = limitBytes;
    this.remedy = refusal.remedy ?? `raise the limit of the ${call}`;
  }
}
